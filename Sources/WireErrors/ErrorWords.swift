// SPDX-License-Identifier: Apache-2.0

package import StoreWire
import StrictJSON

/// The texts of one server for the errors that every server may report.
package struct ErrorWords: Sendable {
    /// The kind of server: `store`, `ledger`.
    package let subject: String
    /// The addresses that the server has.
    package let addresses: String
    /// What to do if the outcome of a request is unknown.
    package let remedy: String

    package init(subject: String, addresses: String, askAgain: String) {
        self.subject = subject
        self.addresses = addresses
        self.remedy = askAgain
    }

    package var stopping: WireError {
        WireError(
            code: "stopping", message: "The server is stopping.",
            rule: "what was written before stays written", remedy: remedy)
    }

    package var busy: WireError {
        WireError(
            code: "busy", message: "The \(subject) is busy; nothing was done.",
            remedy: "ask again in a moment")
    }

    /// The database cannot be reached or used at present. Nothing was written.
    package var storageUnavailable: WireError {
        unusable(
            code: "storageUnavailable", "does not answer as it should",
            rule: "its database can be reached")
    }

    /// The database's disk is full. Nothing was written.
    package var storageFull: WireError {
        unusable(code: "storageFull", "is full", rule: "there is room for what is written")
    }

    /// The database is read-only. Nothing was written.
    package var storageReadOnly: WireError {
        unusable(code: "storageReadOnly", "may only be read", rule: "its database takes writes")
    }

    private func unusable(code: String, _ words: String, rule: String) -> WireError {
        WireError(
            code: code, message: "The \(subject)'s storage \(words).", field: "storage",
            rule: rule,
            remedy: "ask again later, the same request; the operator finds the reason in the "
                + "server's log")
    }

    package var outcomeUnknown: WireError {
        WireError(
            code: "outcomeUnknown", message: "It is not known whether this was done.",
            rule: "a repeated request is done at most once", remedy: remedy)
    }

    package var bug: WireError {
        WireError(
            code: "internal", message: "The \(subject) failed to answer this.",
            remedy: "ask again; the operator finds the reason in the server's log under the "
                + "request id")
    }
}

extension ErrorWords {
    static func notJSON(_ failure: JSONFailure) -> WireError {
        WireError(
            code: "notJSON", message: "The body is not JSON as this protocol requires it.",
            field: "body", rule: failure.description,
            remedy: "send one JSON object in UTF-8, without duplicate keys")
    }

    static func wrongShape(_ failure: DecodingError) -> WireError {
        switch failure {
        case .keyNotFound(let key, let context):
            let field = path(context.codingPath + [key])
            return WireError(
                code: "fieldMissing", message: "A field is missing.", field: field,
                rule: "`\(field)` is required", remedy: "send it")
        case .typeMismatch(_, let context), .valueNotFound(_, let context),
            .dataCorrupted(let context):
            return fieldInvalid(context)
        @unknown default:
            return WireError(
                code: "fieldInvalid", message: "A field is invalid.", field: "body")
        }
    }

    private static func fieldInvalid(_ context: DecodingError.Context) -> WireError {
        WireError(
            code: "fieldInvalid", message: "A field is invalid.",
            field: context.codingPath.isEmpty ? "body" : path(context.codingPath),
            rule: context.debugDescription, remedy: "send it as the protocol describes it")
    }

    /// `ids[3]`, `customer.name`.
    private static func path(_ keys: [any CodingKey]) -> String {
        keys.reduce(into: "") { path, key in
            if let index = key.intValue {
                path += "[\(index)]"
            } else {
                path += path.isEmpty ? key.stringValue : "." + key.stringValue
            }
        }
    }
}
