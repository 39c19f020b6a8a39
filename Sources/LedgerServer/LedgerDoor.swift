// SPDX-License-Identifier: Apache-2.0

import Commerce
import HTTPShell
import Hummingbird
import Ledger

/// Answers the ledger's routes, and checks their keys.
struct LedgerDoor: RequestHandler {
    let ledger: Ledger
    private let wrongKeys = WrongKeys()

    init(ledger: Ledger) { self.ledger = ledger }

    func match(_ call: Call) throws -> MatchedRequest? {
        guard
            let (route, parts) = try LedgerRoutes.table.find(
                call.request.method.rawValue, call.request.uri.path)
        else { return nil }
        if route.pattern == EntitlementAnswers.pattern, EntitlementAnswers.waits(call) {
            return MatchedRequest(
                pattern: route.pattern, facts: [:],
                waiting: {
                    try admit(call, to: route.access)
                    return try await EntitlementAnswers.first(
                        LedgerVisit(ledger: ledger, call: call, parts: parts))
                })
        }
        return MatchedRequest(pattern: route.pattern, isOpen: route.access == .probe) {
            try admit(call, to: route.access)
            return try await route.answer(LedgerVisit(ledger: ledger, call: call, parts: parts))
        }
    }

    func explain(_ error: any Error) -> ErrorAnswer? { ErrorResponse.answer(error) }

    private func admit(_ call: Call, to access: LedgerAccess) throws {
        switch access {
        case .probe, .signed, .open: return
        case .merchant:
            guard let key = call.bearer else { throw RequestMistake.ledgerKeyMissing }
            guard !ledger.admitsToFigures(key) else { throw RequestMistake.ledgerKeyOfFigures }
            guard !ledger.admits(key) else { return }
            try noteWrongKey(call)
            throw RequestMistake.ledgerKeyWrong
        case .metrics:
            guard let key = call.bearer else { throw RequestMistake.metricsKeyMissing }
            guard !ledger.admits(key) else { throw RequestMistake.metricsKeyIsMerchants }
            guard !ledger.admitsToFigures(key) else { return }
            try noteWrongKey(call)
            throw RequestMistake.metricsKeyWrong
        }
    }

    private func noteWrongKey(_ call: Call) throws {
        let now = call.ports.monotonic().components
        let milliseconds = now.seconds * 1000 + now.attoseconds / 1_000_000_000_000_000
        try wrongKeys.note(
            call.approach.client.map { "\($0)" }, at: Timestamp(milliseconds: milliseconds))
    }
}
