// SPDX-License-Identifier: Apache-2.0

import HTTPShell
import Ledger
import StoreWire

/// The only place that turns the ledger's refusals into statuses; what every
/// server may meet is the shell's ``ErrorAnswer``.
enum ErrorResponse {
    static let words = ErrorWords(
        subject: "ledger", addresses: "the addresses of docs/PROTOCOL.md, The ledger",
        askAgain: "ask again, a redemption under the same idempotency key")

    static func answer(_ error: any Error) -> ErrorAnswer {
        guard let refusal = error as? LedgerRefusal else {
            return ErrorAnswer(error, words: words)
        }
        return ErrorAnswer(status(refusal.kind), refusal.error)
    }

    static func status(_ kind: LedgerRefusal.Kind) -> Int {
        switch kind {
        case .badRequest: 400
        case .notFound: 404
        case .conflict: 409
        }
    }
}

/// What the ledger's door turns away.
extension RequestMistake {
    static var ledgerKeyMissing: RequestMistake {
        turnedAway(code: "keyMissing", "The ledger wants its key.")
    }

    static var ledgerKeyWrong: RequestMistake {
        turnedAway(code: "keyWrong", "This key does not open the ledger.")
    }

    private static func turnedAway(code: String, _ message: String) -> RequestMistake {
        .turnedAway(
            status: 401,
            WireError(
                code: code, message: message, field: "Authorization",
                rule: "`Bearer` and the ledger's key",
                remedy: "take the key from the ledger's run.json"))
    }
}
