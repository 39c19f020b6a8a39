// SPDX-License-Identifier: Apache-2.0

import CPostgres
import Storage

/// The server's error message about a statement.
struct ServerError: Error {
    /// The SQLSTATE, five characters. Empty if libpq itself could not continue
    /// while the connection's status is unchanged, for example because it
    /// cannot write.
    let state: String
    let message: String
    /// Whether the server closed the connection with this error.
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

    /// Whether the same transaction may succeed if it is run again.
    var isRepeatable: Bool { state == "40001" || state == "40P01" }

    /// Whether the server rejected only the statement. Otherwise the whole
    /// connection is affected, because the server is stopping or damaged.
    var isOfTheStatement: Bool {
        !["", "57", "08", "58", "XX"].contains(String(state.prefix(2))) || state == "57014"
    }

    /// Keeps the server's message, which names tables and constraints, and
    /// drops its detail, which contains values.
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

/// The connection was lost.
struct ConnectionLost: Error {
    /// When the connection was lost.
    enum Moment {
        /// Before COMMIT was sent: nothing was written.
        case working
        /// After COMMIT was sent: it may have been written.
        case committing
        /// In the commit that makes an answer durable (``PostgresProof``). The
        /// caller itself has written nothing.
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
