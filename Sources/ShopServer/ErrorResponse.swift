// SPDX-License-Identifier: Apache-2.0

import HTTPShell
import Hummingbird
import Shop
import StoreWire

/// The only place that converts the store's refusals to statuses and bodies.
/// The shell's ``ErrorAnswer`` converts errors that every server may meet.
enum ErrorResponse {
    static let words = ErrorWords(
        subject: "store",
        addresses: "the addresses of docs/PROTOCOL.md, behind /realms/NAME or without it",
        askAgain: "ask again, a purchase under the same purchase id")

    static func answer(_ error: any Error) -> ErrorAnswer {
        switch error {
        case let refusal as Refusal:
            ErrorAnswer(
                status(refusal.kind), refusal.error,
                retryAfterSeconds: refusal.retryAfterSeconds)
        case let refusal as AppleRefusal: answer(refusal)
        default: ErrorAnswer(error, words: words)
        }
    }

    /// Apple answers 401 without a body, and all other errors with one.
    private static func answer(_ refusal: AppleRefusal) -> ErrorAnswer {
        let body = refusal.response.flatMap { try? Response.json($0, status: refusal.status) }
        return ErrorAnswer(
            response: body ?? .empty(status: refusal.status),
            code: refusal.response.map { "\($0.errorCode)" })
    }

    static func status(_ kind: Refusal.Kind) -> Int {
        switch kind {
        case .badRequest: 400
        case .unauthorised: 401
        case .forbidden: 403
        case .notFound: 404
        case .conflict: 409
        case .tooLarge: 413
        case .tooMany: 429
        case .notImplemented: 501
        }
    }
}

/// Rejections by the store's doors.
extension RequestMistake {
    static func keyMissing(_ door: Door) -> RequestMistake {
        turnedAway(
            401, code: "keyMissing", "This door requires a key.",
            "`Bearer` and the \(door.rawValue) key",
            "take the key from the store's run.json")
    }

    static func keyWrong(_ door: Door) -> RequestMistake {
        turnedAway(
            401, code: "keyWrong", "This key opens nothing here.",
            "`Bearer` and the \(door.rawValue) key", "take the key from the store's run.json")
    }

    /// The key belongs to another door.
    static func keyOfAnotherDoor(_ door: Door) -> RequestMistake {
        turnedAway(
            403, code: "keyOfAnotherDoor", "This key opens another door.",
            "`Bearer` and the \(door.rawValue) key",
            "use the \(door.rawValue) key of the store's run.json")
    }

    static var tokenMissing: RequestMistake {
        turnedAway(
            401, code: "tokenMissing", "A session is wanted here.",
            "`Bearer` and the token that signing in gave", "sign in first")
    }

    /// A production realm has no control door.
    static var sandboxOnly: RequestMistake {
        turnedAway(
            status: 403,
            WireError(
                code: "sandboxOnly", message: "This realm is a production realm.",
                field: "realm", rule: "the control door is for sandboxes",
                remedy: "create a sandbox"))
    }

    private static func turnedAway(
        _ status: Int, code: String, _ message: String, _ rule: String, _ remedy: String
    ) -> RequestMistake {
        .turnedAway(
            status: status,
            WireError(
                code: code, message: message, field: "Authorization", rule: rule, remedy: remedy))
    }
}
