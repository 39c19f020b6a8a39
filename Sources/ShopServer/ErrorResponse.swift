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
        case let refused as RefusalAtApplesDoor: asApple(ErrorAnswer(ErrorReply(refused.refusal)))
        default: nil
        }
    }

    /// Restates an answer for a client of Apple's protocol: what is wrong with a request
    /// before the door sees it, and the store's own faults. HTTP's status stays. A
    /// request that may not ask here at all (403, 421) has not reached the door. Its
    /// answer is for the operator, and says what to set.
    static func asApple(_ answer: ErrorAnswer) -> ErrorAnswer {
        appleError(of: answer.response.status.code).map { restated(answer, as: $0) } ?? answer
    }

    /// Apple's error for a status of HTTP. Nil if the answer stays in the store's form.
    static func appleError(of status: Int) -> AppleErrorResponse? {
        switch status {
        case 401, 403, 421: nil
        case 429: .rateLimitExceeded
        case 400..<500, 501: .generalBadRequest
        case 503: .generalInternalRetryable
        default: .generalInternal
        }
    }

    /// The same for a client of verifyReceipt.
    static func asReceiptStatus(_ answer: ErrorAnswer) -> ErrorAnswer {
        receiptStatus(of: answer.response.status.code).map {
            restated(answer, as: VerifyReceiptResponse($0))
        } ?? answer
    }

    /// The status in the body for a status of HTTP. Nil if the answer stays in the store's
    /// form.
    static func receiptStatus(of status: Int) -> ReceiptStatus? {
        switch status {
        case 403, 421: nil
        case 405: .notPost
        case 400..<500, 501: .malformed
        case 503: .unavailable
        default: .internalError
        }
    }

    private static func restated(_ answer: ErrorAnswer, as body: some Encodable) -> ErrorAnswer {
        let status = answer.response.status.code
        guard var response = try? Response.json(body, status: status) else { return answer }
        response.headers[.allow] = answer.response.headers[.allow]
        // At 429 Apple's clients read it as a date.
        if status != 429 {
            response.headers[.retryAfter] = answer.response.headers[.retryAfter]
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

/// A refusal of the store's own at a route of Apple's protocol, whose clients do not read
/// its form.
struct RefusalAtApplesDoor: Error {
    let refusal: Refusal
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
