// SPDX-License-Identifier: Apache-2.0

import Commerce
import HTTPShell
import Hummingbird
import Shop
import StoreWire
import WireErrors

/// Converts the store's refusals to statuses and bodies. The shell converts
/// errors that every server may meet.
enum ErrorResponse {
    /// Explains the store's own errors. Nil for all others.
    static func answer(_ error: any Error) -> ErrorAnswer? {
        switch error {
        case let refusal as Refusal: ErrorAnswer(ErrorReply(refusal))
        case let refusal as AppleRefusal: answer(refusal)
        default: nil
        }
    }

    /// Restates an answer for a client of Apple's protocol: what is wrong with an
    /// address, and the store's own faults.
    static func asApple(_ answer: ErrorAnswer) -> ErrorAnswer {
        let error: AppleErrorResponse
        switch answer.response.status.code {
        case 400: error = .generalBadRequest
        case 500: error = .generalInternal
        default: return answer
        }
        guard let response = try? Response.json(error, status: answer.response.status.code) else {
            return answer
        }
        return ErrorAnswer(response: response, code: answer.code, fault: answer.fault)
    }

    /// Apple answers 401 without a body, and all other errors with one. The
    /// reason of a 401 is in a header, which Apple's clients ignore.
    private static func answer(_ refusal: AppleRefusal) -> ErrorAnswer {
        let body = refusal.response.flatMap { try? Response.json($0, status: refusal.status) }
        var response = body ?? .empty(status: refusal.status)
        // Apple writes milliseconds since 1970 here, and no seconds from now.
        if let date = refusal.retryAfter { response.headers[.retryAfter] = "\(date.milliseconds)" }
        if refusal.status == 401 {
            response.headers[.wwwAuthenticate] = challenge(refusal.reason)
        }
        return ErrorAnswer(
            response: response,
            code: refusal.response.map { "\($0.errorCode)" } ?? "tokenRefused")
    }

    /// RFC 6750, 3: the description is ASCII without quotes and backslashes.
    private static func challenge(_ reason: String?) -> String {
        guard let reason else { return "Bearer" }
        let plain = String(
            decoding: reason.utf8.filter {
                (0x20...0x7E).contains($0) && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\")
            }, as: UTF8.self)
        return "Bearer error=\"invalid_token\", error_description=\"\(plain)\""
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
