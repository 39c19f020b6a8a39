// SPDX-License-Identifier: Apache-2.0

import CPostgres
import Storage

/// What the server said of a statement that failed.
struct ServerError: Error {
    /// Five characters (SQLSTATE); none where libpq itself could not go on,
    /// with the connection's status unchanged, as when it cannot write.
    let state: String
    let message: String
    /// Whether the server ended the connection with it.
    let isFatal: Bool

    init(_ result: OpaquePointer) {
        state = Self.field(result, 67)
        message = Self.field(result, 77)
        isFatal = state.isEmpty || ["FATAL", "PANIC"].contains(Self.field(result, 86))
    }

    private static func field(_ result: OpaquePointer, _ code: Int32) -> String {
        guard let text = PQresultErrorField(result, code) else { return "" }
        return String(cString: text)
    }

    /// Whether the same transaction may succeed when it is run again.
    var isRepeatable: Bool { state == "40001" || state == "40P01" }

    /// Whether the server refused a statement, and not the whole connection
    /// because it stops or is damaged.
    var isOfTheStatement: Bool {
        !["", "57", "08", "58", "XX"].contains(String(state.prefix(2))) || state == "57014"
    }

    /// Keeps the server's sentence, which names tables and constraints, and
    /// leaves out its detail, which tells values.
    func fault(in place: String) -> StorageFault {
        StorageFault(code, "\(place): \(message) (SQLSTATE \(state))")
    }

    private var code: StorageFault.Code {
        switch state {
        case "25006": return .readOnly
        case "08P01": return .engine
        case "53100": return .full
        case "53200", "53300", "55P03", "57014", "40001", "40P01": return .busy
        case "25P03", "57P01", "57P02", "57P03", "57P05": return .unavailable
        case "3D000", "28P01", "28000", "42501": return .unavailable
        default: break
        }
        switch state.prefix(2) {
        case "23": return .constraint
        case "53": return .full
        case "08": return .unavailable
        case "58", "XX": return .unreadable
        default: return .engine
        }
    }
}

/// The connection is gone.
struct ConnectionLost: Error {
    /// What it was lost in the middle of.
    enum Moment {
        /// Before COMMIT was sent: nothing was written.
        case working
        /// After COMMIT was sent: it may have been written.
        case committing
        /// In the commit that makes an answer durable (``PostgresProof``):
        /// the caller itself has written nothing.
        case confirming
    }

    let message: String
    var moment = Moment.working

    var mayHaveCommitted: Bool { moment == .committing }

    func fault(in place: String) -> StorageFault {
        switch moment {
        case .working: StorageFault(.unavailable, "\(place): \(message)")
        case .committing:
            StorageFault(
                .outcomeUnknown,
                "\(place): the connection was lost while committing (\(message)); ask again")
        case .confirming: PostgresProof.fault(message)
        }
    }
}
