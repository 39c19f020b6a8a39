// SPDX-License-Identifier: Apache-2.0

package import WireErrors

extension ErrorWords {
    /// The texts of a store.
    package static let store = ErrorWords(
        subject: "store",
        addresses: "the addresses of docs/PROTOCOL.md, behind /realms/NAME or without it",
        askAgain: "ask again, a purchase under the same purchase id")
}

extension ErrorReply {
    package init(_ refusal: Refusal) {
        self.init(
            refusal.kind.status, refusal.error, retryAfterSeconds: refusal.retryAfterSeconds)
    }
}

extension Refusal.Kind {
    /// The HTTP status, for every carrier.
    package var status: Int {
        switch self {
        case .badRequest: 400
        case .unauthorised: 401
        case .forbidden: 403
        case .notFound: 404
        case .conflict: 409
        case .tooLarge: 413
        case .tooMany: 429
        case .notImplemented: 501
        case .unavailable: 503
        }
    }
}
