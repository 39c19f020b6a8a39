// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import PurchaseKit
import PurchaseKitTesting
import Shop
import Storage
import StoreWire

/// The store of a run through all its lives: databases, keys and processor
/// stay, and whoever calls a dead store finds the next one. An actor, so
/// that one call restarts it and the others wait.
actor CutStore {
    struct House: Sendable {
        let life: Life
        let store: Store
        let realm: Realm
    }

    private let tape: Tape
    private let processor: Processor?
    private let randomness = Randomness.seeded(5)
    private var house: House?
    private var opening: Task<House, any Error>?
    private var databases: [String: any Storage] = [:]
    private let engine: TestEngine

    init(tape: Tape, processor: Processor?, engine: TestEngine) {
        self.engine = engine
        self.tape = tape
        self.processor = processor
    }

    /// The store that lives, started where none does.
    func live() async throws -> House {
        if let house, house.life.isAlive { return house }
        let task = opening ?? Task { try await self.open() }
        opening = task
        defer { opening = nil }
        let opened = try await task.value
        house = opened
        return opened
    }

    /// The realm's database, for the auditor.
    func database() throws -> any Storage {
        let name = databases.keys.first { $0 != "registry" }
        guard let name, let database = databases[name] else { throw Life.Ended() }
        return database
    }

    /// One cut a run: a store that was killed as it started starts the second time.
    private func open() async throws -> House {
        let life = Life()
        do { return try await open(life) } catch {
            guard !life.isAlive else { throw error }
            return try await open(Life())
        }
    }

    private func open(_ life: Life) async throws -> House {
        let keys = CutKeys(base: try await TestAuthority.keys.value, life: life, tape: tape)
        let (processor, tape) = (processor, tape)
        let store = try await Store.open(
            StorePorts(
                places: StoragePlaces(
                    registry: { try await self.storage("registry", $0, life) },
                    realm: { try await self.storage("realm-" + $0, $1, life) },
                    deleteRealm: { _ in }, isOneProcess: true),
                keys: keys, wall: .standing(at: TestWallClock.start), randomness: randomness,
                authoriser: { _ in
                    processor.map { CutProcessor(processor: $0, life: life, tape: tape) }
                },
                passwordCost: PasswordCost(rounds: 2), defaultRealmSeed: 5))
        let realm = try await store.realm(named: Store.defaultRealm)
        return House(life: life, store: store, realm: realm)
    }

    private func storage(
        _ name: String, _ migrations: [Migration], _ life: Life
    ) async throws -> any Storage {
        let base: any Storage
        if let open = databases[name] {
            base = open
        } else {
            base = try await engine.storage(name, migrations)
            databases[name] = base
        }
        let kind = name == "registry" ? "registry" : "realm"
        return CutStorage(name: kind, base: base, life: life, tape: tape)
    }

    func close() async {
        for database in databases.values { try? await database.close() }
    }
}

/// The wire. A cut here loses the request, or the answer.
struct CutTransport: StoreTransport {
    let store: CutStore
    let life: Life
    let tape: Tape
    let bell: Bell
    /// Whether each sending is another purchase: no device to buy with.
    let forgetsPurchaseIDs: Bool
    let randomness: Randomness

    func send(_ call: DeviceCall) async throws(TransportFailure) -> DeviceReply {
        guard life.isAlive else { throw .unknown(nil) }
        defer { bell.ring() }
        var call = call
        if forgetsPurchaseIDs, case .purchase = call.route {
            call.route = .purchase(id: randomness.uuid())
        }
        let side = tape.enter("wire.\(Self.name(call.route))")
        if side == .before { throw .unknown(URLError(.networkConnectionLost)) }
        let reply = try await deliver(call)
        if side == .after {
            if forgetsPurchaseIDs { try await finishAll(call) }
            throw .unknown(URLError(.networkConnectionLost))
        }
        if case .transactions = call.route, reply.status == 200 { life.noteAsked() }
        return reply
    }

    /// What is unfinished would be answered again, whatever the purchase's id.
    private func finishAll(_ call: DeviceCall) async throws(TransportFailure) {
        let sold: [TransactionRecord]
        do {
            sold = try await store.live().realm.purchases.listTransactions().transactions
        } catch { throw .unknown(nil) }
        for transaction in sold where !transaction.isFinished {
            var finish = call
            finish.route = .finish(transactionID: transaction.payload.transactionId ?? "")
            _ = try await deliver(finish)
        }
    }

    /// A store that dies under a call gives no answer.
    private func deliver(_ call: DeviceCall) async throws(TransportFailure) -> DeviceReply {
        let house: CutStore.House
        do { house = try await store.live() } catch { throw .unknown(nil) }
        let transport = ShopTransport(sleep: { _ in }) { house.realm }
        let reply = try await transport.send(call)
        guard house.life.isAlive else { throw .unknown(nil) }
        return reply
    }

    private static func name(_ route: DeviceRoute) -> String {
        switch route {
        case .signIn: "signIn"
        case .products: "products"
        case .offer: "offer"
        case .purchase: "purchase"
        case .transactions: "transactions"
        case .finish: "finish"
        case .requestRefund: "requestRefund"
        case .receipt: "receipt"
        case .priceIncreases: "priceIncreases"
        case .consent: "consent"
        case .content: "content"
        case .promotionOverrides: "promotionOverrides"
        case .orderPromotions: "orderPromotions"
        case .showPromotion: "showPromotion"
        case .reviewRequest: "reviewRequest"
        case .review: "review"
        case .claimIntents: "claimIntents"
        case .decideIntent: "decideIntent"
        }
    }
}
