// SPDX-License-Identifier: Apache-2.0

import Commerce
import HTTPShell
import Hummingbird
import Ledger
import StoreWire

/// Routes a request to the ledger's use cases, and checks its key.
struct LedgerResponder: RequestHandler {
    let ledger: Ledger
    private let wrongKeys = WrongKeys()

    init(ledger: Ledger) { self.ledger = ledger }

    func match(_ call: Call) throws -> MatchedRequest {
        let route = try LedgerRoute(
            method: call.request.method.rawValue, path: call.request.uri.path)
        let isOpen = [.health, .ready].contains(route)
        return MatchedRequest(pattern: route.pattern, isOpen: isOpen) {
            try await answer(route, call)
        }
    }

    func explain(_ error: any Error) -> ErrorAnswer { ErrorResponse.answer(error) }

    private func answer(_ route: LedgerRoute, _ call: Call) async throws -> Response {
        switch route {
        case .health: return try .json(ServerStatus(status: "ok"))
        case .ready: return try await ready(call)
        case .metrics:
            try admitToFigures(call)
            return metrics(call)
        // Notifications need no key, because a store signs them. Unsigned ones
        // are rejected.
        case .notifications:
            let body = try await call.body(ResponseBodyV2.self)
            return try .json(try await ledger.take(body, requestID: call.requestID))
        case .purchases:
            try admit(call)
            let body = try await call.body(TakePurchaseRequest.self)
            return try .json(try await ledger.take(body, requestID: call.requestID))
        case .unspent(let account):
            try admit(call)
            return try .json(
                try await ledger.unspent(
                    account: account, environment: call.query("environment"),
                    after: call.query("after"),
                    limit: try number("limit", call).map { Int($0) }))
        case .redemptions(let account):
            try admit(call)
            let body = try await call.body(RedeemRequest.self)
            return try .json(
                try await ledger.redeem(body, account: account, requestID: call.requestID))
        }
    }

    private func admit(_ call: Call) throws {
        guard let key = call.bearer else { throw RequestMistake.ledgerKeyMissing }
        guard !ledger.admitsToFigures(key) else { throw RequestMistake.ledgerKeyOfFigures }
        guard ledger.admits(key) else {
            try noteWrongKey(call)
            throw RequestMistake.ledgerKeyWrong
        }
    }

    private func noteWrongKey(_ call: Call) throws {
        let now = call.ports.monotonic().components
        let milliseconds = now.seconds * 1000 + now.attoseconds / 1_000_000_000_000_000
        try wrongKeys.note(
            call.approach.client.map { "\($0)" }, at: Timestamp(milliseconds: milliseconds))
    }

    private func admitToFigures(_ call: Call) throws {
        guard let key = call.bearer else { throw RequestMistake.metricsKeyMissing }
        guard !ledger.admits(key) else { throw RequestMistake.metricsKeyIsMerchants }
        guard ledger.admitsToFigures(key) else {
            try noteWrongKey(call)
            throw RequestMistake.metricsKeyWrong
        }
    }

    /// Returns the figures of this process in Prometheus' text format.
    private func metrics(_ call: Call) -> Response {
        let counts = ledger.counts
        let figures = [
            Figure(
                "shopkeeper_ledger_taken_total", .counter, "Proofs that changed the book.",
                [.init(Double(counts.taken))]),
            Figure(
                "shopkeeper_ledger_redeemed_total", .counter, "Units that were spent.",
                [.init(Double(counts.redeemed))]),
        ]
        return call.figures.response(figures, commits: counts.commits)
    }

    private func ready(_ call: Call) async throws -> Response {
        try call.checkReadiness()
        let ledger = ledger
        let late = RequestMistake.notReady(reason: "The storage does not answer.")
        do {
            try await call.ports.deadline(call.configuration.readyTimeout, or: late) {
                try await ledger.checkStorage()
            }
        } catch { throw RequestMistake.unready(error) }
        return try .json(ServerStatus(status: "ready"))
    }

    private func number(_ field: String, _ call: Call) throws -> Int64? {
        guard let text = call.query(field) else { return nil }
        guard let number = Int64(text), number >= 0 else {
            throw RequestMistake.queryInvalid(
                field: field, rule: "a whole number, not negative",
                remedy: "send one, or leave it out")
        }
        return number
    }
}
