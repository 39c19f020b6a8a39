// SPDX-License-Identifier: Apache-2.0

import Commerce
import HTTPShell
import Hummingbird
import Ledger
import StoreWire

/// The answers about what an account may use.
enum EntitlementAnswers {
    static let pattern = "/ledger/v1/accounts/{}/entitlements"

    /// Answers at once, or waits until the account has what the request names.
    static func first(_ visit: LedgerVisit) async throws -> FirstAnswer {
        let seconds = try seconds(visit)
        let wait = try visit.ledger.waitForEntitlement(
            account: try visit.account(), name: visit.call.query("entitlement"),
            environment: visit.call.query("environment"))
        do {
            if let answer = try await wait.enough() {
                wait.close()
                return .response(try response(answer, visit.call))
            }
        } catch {
            wait.close()
            throw error
        }
        return .later(WaitingForEntitlement(wait, .seconds(seconds), visit.call))
    }

    static func now(_ visit: LedgerVisit) async throws -> Response {
        let answer = try await visit.ledger.entitlementsAnswer(
            account: try visit.account(), environment: visit.call.query("environment"))
        return try response(answer, visit.call)
    }

    /// Whether a request asks to wait.
    static func waits(_ call: Call) -> Bool { call.query("wait") != nil }

    private static func seconds(_ visit: LedgerVisit) throws -> Int {
        let seconds = try visit.number("wait") ?? 0
        guard seconds <= Ledger.waitSecondsMax else {
            throw RequestMistake.queryInvalid(
                field: "wait", rule: "0 to \(Ledger.waitSecondsMax) seconds",
                remedy: "wait again after the answer")
        }
        return seconds
    }

    /// 304 without a body, if the client has this answer already.
    static func response(_ answer: EntitlementsAnswer, _ call: Call) throws -> Response {
        let text = try answer.text { answer in
            let bytes = try Response.jsonBytes(answer)
            return .init(bytes: bytes, tag: "\"\(Fingerprint.of(bytes))\"")
        }
        let isKnown =
            call.request.headers[.ifNoneMatch].map { EntityTag.matches($0, text.tag) } ?? false
        var response: Response =
            isKnown ? .empty(status: 304) : .bytes(text.bytes, type: "application/json")
        response.headers[.eTag] = text.tag
        response.headers[.cacheControl] = "private, no-cache"
        return response
    }
}

/// A request that waits for an entitlement. A class, because the shell holds it
/// while it waits.
private final class WaitingForEntitlement: WaitingAnswer {
    private let wait: EntitlementWait
    private let call: Call
    let duration: Duration

    init(_ wait: EntitlementWait, _ duration: Duration, _ call: Call) {
        (self.wait, self.duration, self.call) = (wait, duration, call)
    }

    var customer: String { wait.account }
    func untilChanged() async throws { try await wait.untilEnough() }
    func end() { wait.end() }
    func answer() async throws -> Response {
        try EntitlementAnswers.response(try await wait.lastAnswer(), call)
    }
    func close() { wait.close() }
}
