// SPDX-License-Identifier: Apache-2.0

import Commerce
import SignedData
import Storage
import StoreWire
import StrictJSON
import Synchronization
import Testing

@testable import Ledger

/// A store's server as a test scripts it. A class, because the ledger and the test
/// share it.
final class FakeStore: Sendable {
    private struct State {
        var calls: [StoreCall] = []
        var pauses: [Duration] = []
        var script: @Sendable (StoreCall) throws -> StoreAnswer = { _ in
            throw StoreUnreached("nobody answers")
        }
    }

    private let state = Mutex(State())
    static let production = "https://production.example"
    static let sandbox = "https://sandbox.example"
    private static let key = ServerKey.make(randomness: .seeded(3))

    var door: StoreDoor {
        StoreDoor(sleep: { pause in self.state.withLock { $0.pauses.append(pause) } }) {
            call throws(StoreUnreached) in
            let script = self.state.withLock { state in
                state.calls.append(call)
                return state.script
            }
            do { return try script(call) } catch let fault as StoreUnreached { throw fault } catch {
                throw StoreUnreached("\(error)")
            }
        }
    }

    func answers(_ script: @escaping @Sendable (StoreCall) throws -> StoreAnswer) {
        state.withLock { $0.script = script }
    }

    func isDown() { answers { _ in throw StoreUnreached("nobody answers") } }

    /// The hosts and paths that were called, and forgets them.
    func heard() -> [String] {
        state.withLock { state in
            defer { state.calls = [] }
            return state.calls.map {
                $0.url.replacing("https://", with: "").replacing(".example", with: "")
            }
        }
    }

    var lastCall: StoreCall? { state.withLock { $0.calls.last } }
    var pauses: [Duration] { state.withLock { $0.pauses } }

    static func json(_ value: some Encodable, status: Int = 200) throws -> StoreAnswer {
        StoreAnswer(status: status, body: try StrictJSON.encode(value))
    }

    static func error(_ code: Int) throws -> StoreAnswer {
        try json(AppleErrorResponse(errorCode: code, errorMessage: "-"), status: code / 10_000)
    }

    /// A store that has these transactions in its sandbox, by number.
    func has(_ transactions: [String: String]) {
        answers { call in
            let id = call.url.split(separator: "/").last.map(String.init) ?? ""
            guard call.url.hasPrefix(Self.sandbox), let signed = transactions[id] else {
                return try Self.error(4_040_010)
            }
            return try Self.json(TransactionInfoResponse(signedTransactionInfo: signed))
        }
    }

    func access(_ environments: Set<Environment>) throws -> StoreAccess {
        try StoreAccess(
            addresses: environments.map { environment in
                let isProduction = environment == .production
                return StoreAccess.Address(
                    environment: environment,
                    root: try (isProduction ? Book.production() : Book.sandbox()).root,
                    api: isProduction ? Self.production : Self.sandbox, callsPerSecond: 1000)
            },
            key: StoreAccess.Key(
                issuerID: Self.key.key.issuerID, keyID: Self.key.key.keyID,
                privateKeyPEM: Self.key.privateKeyPEM), sharedSecret: "secret")
    }
}

extension Book {
    /// A ledger that asks this store.
    static func open(
        asking store: FakeStore, environments: Set<Environment> = [.production, .sandbox],
        storage: (any Storage)? = nil, grants: GrantRules = .none, forwardsTo: [String] = [],
        wall: WallClock = .standing(at: now)
    ) async throws -> Book {
        let storage = if let storage { storage } else { try await Shelf.storage() }
        var configuration = try LedgerConfiguration(
            roots: [
                TrustedRoot(certificate: try sandbox().root, environments: [.sandbox]),
                TrustedRoot(certificate: try production().root, environments: [.production]),
            ], apps: [LedgerApp(bundleID: bundleID, environments: environments)], grants: grants)
        configuration.stores = [try store.access(environments)]
        configuration.forwardsTo = forwardsTo
        var ports = LedgerPorts(wall: wall, randomness: .seeded(1)) { _, _ in }
        ports.stores = store.door
        let ledger = try await Ledger.open(
            storage: storage, configuration: configuration, ports: ports)
        return Book(ledger: ledger, storage: storage)
    }

    static func id(_ number: Int) -> String { "\(2_000_000_000_000_000 + number)" }

    /// Submits a transaction's number.
    func present(
        _ id: Int = 1, account: String? = "blob"
    ) async throws -> ProofOutcome<LedgerPurchase> {
        try await ledger.take(
            TakeTransactionRequest(transactionId: Self.id(id), account: account))
    }
}
