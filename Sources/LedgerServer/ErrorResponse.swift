// SPDX-License-Identifier: Apache-2.0

import HTTPShell
import Ledger
import StoreWire
import WireErrors

/// The only place that converts the ledger's refusals to statuses. The shell
/// converts errors that every server may meet.
enum ErrorResponse {
    static let words = ErrorWords(
        subject: "ledger", addresses: "the addresses of docs/PROTOCOL.md, The ledger",
        askAgain: "ask again, a redemption under the same idempotency key")

    /// Explains the ledger's own errors. Nil for all others.
    static func answer(_ error: any Error) -> ErrorAnswer? {
        switch error {
        case let waiting as TooManyWrongKeys:
            ErrorAnswer(ErrorReply(429, waiting.error, retryAfterSeconds: waiting.seconds))
        case let calls as TooManyCalls:
            ErrorAnswer(ErrorReply(429, calls.error, retryAfterSeconds: calls.seconds))
        case let refusal as LedgerRefusal:
            ErrorAnswer(ErrorReply(status(refusal.kind), refusal.error))
        default: nil
        }
    }

    static func status(_ kind: LedgerRefusal.Kind) -> Int {
        switch kind {
        case .badRequest: 400
        case .unproven: 401
        case .notFound: 404
        case .conflict: 409
        case .unavailable: 503
        }
    }
}

/// Rejections by the ledger's door.
extension RequestMistake {
    static var ledgerKeyMissing: RequestMistake {
        turnedAway(401, code: "keyMissing", "The ledger requires its key.", "key")
    }

    static var ledgerKeyWrong: RequestMistake {
        turnedAway(401, code: "keyWrong", "This key does not open the ledger.", "key")
    }

    static var ledgerKeyOfFigures: RequestMistake {
        turnedAway(403, code: "keyOfAnotherDoor", "This key opens only the metrics.", "key")
    }

    /// A key for apps, at an address for servers.
    static var ledgerKeyOfApps: RequestMistake {
        .turnedAway(
            status: 403,
            WireError(
                code: "keyOfAnotherDoor", message: "This key is for apps.",
                field: "Authorization", rule: "a key with the scope `server`",
                remedy: "call it from the merchant's server, with a key of its own"))
    }

    /// An app's key alone reads nothing.
    static var accountTokenMissing: RequestMistake {
        .turnedAway(
            status: 401,
            WireError(
                code: "accountTokenMissing", message: "A key for apps alone reads nothing.",
                field: "Account-Token", rule: "a token that proves an account",
                remedy: "have the merchant's server make a token for the account"))
    }

    static var metricsKeyMissing: RequestMistake {
        turnedAway(401, code: "keyMissing", "The metrics require their key.", "metricsKey")
    }

    static var metricsKeyWrong: RequestMistake {
        turnedAway(401, code: "keyWrong", "This key does not open the metrics.", "metricsKey")
    }

    static var metricsKeyIsMerchants: RequestMistake {
        turnedAway(
            403, code: "keyOfAnotherDoor", "This key opens the ledger, not its metrics.",
            "metricsKey")
    }

    private static func turnedAway(
        _ status: Int, code: String, _ message: String, _ field: String
    ) -> RequestMistake {
        .turnedAway(
            status: status,
            WireError(
                code: code, message: message, field: "Authorization",
                rule: "`Bearer` and the ledger's `\(field)`",
                remedy: field == "metricsKey"
                    ? "take `metricsKey` from the ledger's run.json, or give the ledger one with "
                        + "`shopkeeper ledger serve --metrics-key FILE`"
                    : "create one with `shopkeeper ledger key create`, or take `key` from the "
                        + "ledger's run.json"))
    }
}
