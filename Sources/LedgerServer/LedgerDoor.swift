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
        if route.pattern == EntitlementAnswers.pattern, Self.accountToken(call) == nil {
            return MatchedRequest(pattern: route.pattern) {
                try await entitlements(of: parts[0], call)
            }
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
            if let token = Self.accountToken(call) {
                let account = try await ledger.account(provenBy: token)
                try accounts.take(account, at: now(call))
                return .account(account)
            }
            try Self.checkNeedsNoToken(key)
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

    /// Answers what the account of the path may use, without a token of the account. Servers
    /// ask this most, so the key and the account are looked up together.
    private func entitlements(of account: String, _ call: Call) async throws -> Response {
        let environment = call.query("environment")
        guard let text = try keyText(call) else {
            return try EntitlementAnswers.response(
                try await ledger.entitlementsAnswer(account: account, environment: environment),
                call)
        }
        let answer = try await ledger.entitlementsAnswer(
            account: account, environment: environment, key: text
        ) { key in
            try Self.checkNeedsNoToken(try admit(key, call))
        }
        return try EntitlementAnswers.response(answer, call)
    }

    private static func checkNeedsNoToken(_ key: AdmittedKey?) throws(RequestMistake) {
        guard key?.scope != .app else { throw .accountTokenMissing }
    }

    /// Returns the key of a call. Nil for that of this process.
    private func key(_ call: Call) async throws -> AdmittedKey? {
        guard let text = try keyText(call) else { return nil }
        return try admit(try await ledger.admittedKey(text), call)
    }

    /// Returns the text of a call's key, which is not looked up yet. Nil for that of this
    /// process.
    private func keyText(_ call: Call) throws(RequestMistake) -> String? {
        guard let text = call.bearer else { throw .ledgerKeyMissing }
        guard !ledger.admitsToFigures(text) else { throw .ledgerKeyOfFigures }
        return ledger.admits(text) ? nil : text
    }

    /// `key`: nil if the call's key is none.
    private func admit(_ key: AdmittedKey?, _ call: Call) throws -> AdmittedKey {
        guard let key else {
            try noteWrongKey(call)
            throw RequestMistake.ledgerKeyWrong
        }
        try keys.take(key.keyID, at: now(call))
        return key
    }

    private static func accountToken(_ call: Call) -> String? {
        tokenField.flatMap { call.request.headers[$0] }
    }

    /// Checked once, not for each request.
    private static let tokenField = HTTPFields.Element.Name("Account-Token")

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
