// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import Shop
import Storage
import StoreWire

/// A jump of a year over many monthly subscriptions, against bare inserts with as many
/// subjects a commit: of the rows that it leaves (transactions, events, owed notifications
/// and the errands to send them), and of all rows that it writes (these, and each state of
/// the subscriptions and of their due work). A jump before the pairs shows the memory; the
/// first pair also keeps the statements that it recorded.
struct JumpBench {
    let engine: BenchEngine
    /// How many subscriptions, and how many pairs.
    var sizes = Brief.or([(1000, 7), (10_000, 7)], brief: [(1000, 2)])

    private static let subjectsOfCommit = 100
    private static let left = ["transactions", "subscription_events", "outbox", "errands"]
    private static let written = left + ["subscriptions", "due_work"]

    func run() async throws -> (figures: [Pairs], notes: [String]) {
        var figures: [Pairs] = []
        var notes: [String] = []
        let one = try await World(engine, 1)
        let year = try await secondsAwaited { try await one.jump() }
        await one.close()
        notes.append(String(format: "%@: one customer's year: %.3f s", engine.name, year))
        for (size, pairs) in sizes {
            let name = "\(engine.name): a year of \(size) monthly subscriptions / bare inserts"
            var ofLeft = Pairs("\(name) of what it leaves", atLeast: nil)
            var ofWritten = Pairs("\(name) of what it writes", atLeast: 0.4)
            notes.append(try await memory(size))
            var steps: [RecordingStorage.Step] = []
            for number in 1...pairs {
                progress("jump, \(engine.name), \(size) subscriptions, pair \(number) of \(pairs)")
                let world = try await World(engine, size)
                let storage = try world.storage
                if steps.isEmpty { storage.record() }
                let ours = try await secondsAwaited { try await world.jump() }
                if steps.isEmpty { steps = storage.recorded() }
                await world.close()
                ofLeft.add(
                    bare: try await Self.insert(steps, into: Self.left, engine), ours: ours)
                ofWritten.add(
                    bare: try await Self.insert(steps, into: Self.written, engine), ours: ours)
            }
            figures += [ofLeft, ofWritten]
        }
        return (figures, notes)
    }

    /// A jump without anything beside it, and the most memory that it takes.
    private func memory(_ size: Int) async throws -> String {
        progress("jump, \(engine.name), \(size) subscriptions, memory")
        let world = try await World(engine, size)
        try ProcessMemory.resetPeak()
        let start = try ProcessMemory("self").resident
        let ours = try await secondsAwaited { try await world.jump() }
        let peak = try ProcessMemory("self").peak
        await world.close()
        return String(
            format: "%@: %d renewals in %.1f s; memory before %.0f MiB, at most %.0f MiB",
            engine.name, size * 12, ours, Double(start) / 1_048_576, Double(peak) / 1_048_576)
    }

    /// Inserts a jump's rows of some tables into those of another store, and returns how
    /// long that takes.
    private static func insert(
        _ recorded: [RecordingStorage.Step], into tables: [String], _ engine: BenchEngine
    ) async throws -> Double {
        let steps = recorded.filter { step in
            tables.contains { step.statement.sql.hasPrefix("INSERT INTO \($0) ") }
        }
        let world = try await World(engine, 0)
        let (storage, size) = (try world.storage, subjectsOfCommit * tables.count)
        let seconds = try await secondsAwaited {
            for start in stride(from: 0, to: steps.count, by: size) {
                let commit = Array(steps[start..<min(start + size, steps.count)])
                try await storage.replay(commit, fresh: [:])
            }
        }
        await world.close()
        return seconds
    }

    /// A store with customers who subscribe.
    private final class World {
        /// Its database lives as long.
        private let engine: BenchEngine
        private let folder: URL
        private let store: Store
        private let realm: Realm
        private let recorder: Recorder

        var storage: RecordingStorage {
            get throws {
                guard let storage = recorder.storage else {
                    throw ClientFailure("no realm is open")
                }
                return storage
            }
        }

        init(_ engine: BenchEngine, _ customers: Int) async throws {
            folder = FileManager.default.temporaryDirectory
                .appendingPathComponent("bench-jump-\(UUID().uuidString)")
            self.engine = try engine.another()
            let recorder = Recorder()
            self.recorder = recorder
            var places = self.engine.places ?? BenchStore.files(in: folder)
            let realms = places.realm
            places.realm = { id, migrations in
                let storage = RecordingStorage(try await realms(id, migrations))
                recorder.storage = storage
                return storage
            }
            store = try await BenchStore.open(in: folder, places: places)
            realm = try await store.realm(named: Store.defaultRealm)
            try await realm.catalogue.putCatalogue(
                Self.catalogue, app: AppDescription(bundleID: "com.example.app"))
            try await realm.catalogue.setNotificationURL(
                "http://127.0.0.1:9/", bundleID: "com.example.app",
                RequestContext(requestID: "bench"))
            try await subscribe(customers)
        }

        /// Many at once, because a server's database makes them wait for each commit.
        private func subscribe(_ customers: Int) async throws {
            let realm = realm
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<customers {
                    if number >= Self.subscribedAtOnce { try await group.next() }
                    group.addTask { try await Self.subscribe("customer-\(number)", in: realm) }
                }
                try await group.waitForAll()
            }
        }

        private static let subscribedAtOnce = 16

        private static let catalogue = Catalogue(
            products: [
                Product(
                    id: "com.example.monthly",
                    kind: .autoRenewable(groupID: "news", period: "P1M"), referenceName: "News",
                    price: Amount(milliunits: 4990),
                    localizations: [
                        Localization(locale: "en_US", displayName: "News", details: "")
                    ])
            ], storefront: "USA", locale: "en_US")

        private static func subscribe(_ name: String, in realm: Realm) async throws {
            let context = RequestContext(requestID: "bench")
            _ = try await realm.customers.createCustomer(CreateCustomerRequest(name: name))
            let answer = try await realm.customers.signIn(
                SignInRequest(
                    bundleId: "com.example.app", deviceUUID: UUID().uuidString.lowercased(),
                    customer: name), context)
            let sold = try await realm.purchases.purchase(
                UUID().uuidString.lowercased(),
                PurchaseRequest(
                    productId: "com.example.monthly", quantity: 1, unitPrice: 4990,
                    currency: "USD"),
                try await realm.customers.session(token: answer.token), context)
            guard sold.state == "sold" else {
                throw ClientFailure("a subscription ended as \(sold.state)")
            }
        }

        func jump() async throws {
            _ = try await realm.moveClock(
                MoveClockRequest(advancePeriod: "P1Y"), RequestContext(requestID: "bench"))
        }

        func close() async {
            await store.close()
            try? FileManager.default.removeItem(at: folder)
        }
    }
}
