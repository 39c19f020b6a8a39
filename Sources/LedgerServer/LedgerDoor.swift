// SPDX-License-Identifier: Apache-2.0

import Commerce
import HTTPShell
import Hummingbird
import Ledger

/// Answers the ledger's routes, and checks their keys.
struct LedgerDoor: RequestHandler {
    let ledger: Ledger
    private let wrongKeys = WrongKeys()
    private let keys: CallPace
    private let accounts: CallPace

    init(ledger: Ledger) {
        self.ledger = ledger
        keys = CallPace(perSecond: ledger.limits.perKey)
        accounts = CallPace(perSecond: ledger.limits.perAccount)
    }

    func match(_ call: Call) throws -> MatchedRequest? {
        guard
            let (route, parts) = try LedgerRoutes.table.find(
                call.request.method.rawValue, call.request.uri.path)
        else { return nil }
        if route.pattern == EntitlementAnswers.pattern, EntitlementAnswers.waits(call) {
            return MatchedRequest(
                pattern: route.pattern, facts: [:],
                waiting: {
                    let caller = try await admit(call, to: route.access)
                    return try await EntitlementAnswers.first(
                        LedgerVisit(ledger: ledger, call: call, parts: parts, caller: caller))
                })
        }
        return MatchedRequest(pattern: route.pattern, isOpen: route.access == .probe) {
            let caller = try await admit(call, to: route.access)
            return try await LedgerActor.$current.withValue(caller.actor) {
                try await route.answer(
                    LedgerVisit(ledger: ledger, call: call, parts: parts, caller: caller))
            }
        }
    }

    func explain(_ error: any Error) -> ErrorAnswer? { ErrorResponse.answer(error) }

    private func admit(
        _ call: Call, to access: LedgerAccess
    ) async throws -> LedgerCaller {
        switch access {
        case .probe, .signed, .open: return .anyone
        case .merchant: return .server(try await server(call))
        case .app:
            let key = try await key(call)
            if let token = call.header("Account-Token") {
                let account = try await ledger.account(provenBy: token)
                try accounts.take(account, at: now(call))
                return .account(account)
            }
            guard key?.scope != .app else { throw RequestMistake.accountTokenMissing }
            return .server(key?.actor ?? Self.command)
        case .metrics:
            guard let key = call.bearer else { throw RequestMistake.metricsKeyMissing }
            guard !ledger.admits(key) else { throw RequestMistake.metricsKeyIsMerchants }
            guard !ledger.admitsToFigures(key) else { return .anyone }
            try noteWrongKey(call)
            throw RequestMistake.metricsKeyWrong
        }
    }

    /// The commands on this machine, which have the key of this process.
    private static let command = LedgerActor("command")

    private func server(_ call: Call) async throws -> LedgerActor {
        guard let key = try await key(call) else { return Self.command }
        guard key.scope == .server else { throw RequestMistake.ledgerKeyOfApps }
        return key.actor
    }

    /// Returns the key of a call. Nil for that of this process.
    private func key(_ call: Call) async throws -> AdmittedKey? {
        guard let text = call.bearer else { throw RequestMistake.ledgerKeyMissing }
        guard !ledger.admitsToFigures(text) else { throw RequestMistake.ledgerKeyOfFigures }
        guard !ledger.admits(text) else { return nil }
        guard let key = try await ledger.admittedKey(text) else {
            try noteWrongKey(call)
            throw RequestMistake.ledgerKeyWrong
        }
        try keys.take(key.keyID, at: now(call))
        return key
    }

    private func noteWrongKey(_ call: Call) throws {
        try wrongKeys.note(call.approach.client.map { "\($0)" }, at: now(call))
    }

    /// A time that never decreases.
    private func now(_ call: Call) -> Timestamp {
        let now = call.ports.monotonic().components
        return Timestamp(
            milliseconds: now.seconds * 1000 + now.attoseconds / 1_000_000_000_000_000)
    }
}
