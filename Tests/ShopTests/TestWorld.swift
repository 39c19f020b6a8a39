// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import SignedData
import Storage
import StoragePostgres
import StorageSQLite
import StoreWire
import Synchronization
import TestSupport
import Testing

@testable import Shop
@testable import Work

/// A wall clock that a test moves. A class, because store and test share it.
final class TestWall: Sendable {
    /// 2026-11-21T04:00:00Z
    static let start = Timestamp(milliseconds: 1_795_233_600_000)
    private let instant = Mutex(TestWall.start)

    var clock: WallClock { WallClock { self.instant.withLock { $0 } } }

    func set(_ date: Timestamp) { instant.withLock { $0 = date } }

    func advance(seconds: Int64) {
        instant.withLock { $0 = $0.adding(seconds: seconds) }
    }
}

/// Counts what databases and signers do. A class, because databases share it.
final class Counter: StorageObserver {
    private let state = Mutex<(statements: [String], commits: Int, trips: Int)>(([], 0, 0))

    /// Is called after each statement, with its name.
    let onStatement = Mutex<(@Sendable (String) -> Void)?>(nil)

    var statements: [String] { state.withLock { $0.statements } }
    var commits: Int { state.withLock { $0.commits } }
    var roundTrips: Int { state.withLock { $0.trips } }

    /// Is awaited once, after the next read that runs a statement.
    private let pending = Mutex<Act?>(nil)

    private struct Act {
        let name: String
        var isRun = false
        let act: @Sendable () async throws -> Void
    }

    /// Acts once, between the next read that runs a statement and what follows from it.
    func afterRead(of name: String, _ act: @escaping @Sendable () async throws -> Void) {
        pending.withLock { $0 = Act(name: name, act: act) }
    }

    func finishRead() async throws {
        let act = pending.withLock { pending -> (@Sendable () async throws -> Void)? in
            guard let due = pending, due.isRun else { return nil }
            pending = nil
            return due.act
        }
        try await act?()
    }

    func didRun(_ statement: Statement) {
        state.withLock { $0.statements.append(statement.name) }
        pending.withLock { if $0?.name == statement.name { $0?.isRun = true } }
        onStatement.withLock { $0 }?(statement.name)
    }

    func didCommit() { state.withLock { $0.commits += 1 } }

    func didRoundTrip() { state.withLock { $0.trips += 1 } }

    func reset() { state.withLock { $0 = ([], 0, 0) } }
}

/// Keeps what the store logs.
final class Logged: Sendable {
    private let state = Mutex<[(ShopLog.Level, String, [String: String])]>([])

    var log: ShopLog {
        ShopLog { level, message, facts in
            self.state.withLock { $0.append((level, message, facts)) }
        }
    }

    func count(_ message: String) -> Int { state.withLock { $0.count { $0.1 == message } } }

    var everything: String { state.withLock { "\($0)" } }
}

/// Databases in memory that outlive the store that opened them, as files
/// would: closing one leaves it to the next store.
final class TestPlaces: Sendable {
    private let bought = Mutex<Set<String>>([])

    /// Whether a customer has bought a product before, by the words of both.
    func isKnown(_ words: String) -> Bool {
        bought.withLock { !$0.insert(words).inserted }
    }

    let counter = Counter()
    let deleted = Mutex<[String]>([])
    private let kept = Mutex<[String: Task<Kept, any Error>]>([:])
    private let isOneProcess: Bool
    private let server: Server?
    private let far: [String]
    /// Places of clusters that are down: nothing there is opened or answers.
    let down = Mutex<Set<String>>([])

    /// A PostgreSQL that is used whatever the environment says.
    struct Server {
        var conninfo: String
        var connections = 1
    }

    /// One process: whatever an earlier store held is free.
    /// `far`: the buckets of each other cluster; as the environment says
    /// where it is left out.
    init(isOneProcess: Bool = false, server: Server? = nil, far: [String]? = nil) {
        self.isOneProcess = isOneProcess
        self.server = server
        self.far = far ?? (TestClusters.areShared && server == nil ? [TestClusters.far] : [])
    }

    var places: StoragePlaces {
        var places = StoragePlaces(
            registry: { try await self.open("registry", $0) },
            realm: { try await self.open("realm-" + $0, $1) },
            deleteRealm: { id in
                try await self.drop("realm-" + id, self.postgres)
                self.deleted.withLock { $0.append(id) }
            }, isOneProcess: isOneProcess)
        do { places.clusters = try far.enumerated().map(cluster) } catch {
            preconditionFailure("\(error)")
        }
        return places
    }

    private func cluster(_ index: Int, _ buckets: String) throws -> ClusterPlace {
        let prefix = "far\(index)-"
        return ClusterPlace(
            buckets: try BucketRanges(buckets),
            realm: { id, migrations in
                try self.check(buckets)
                return Fallible(
                    storage: try await self.open(prefix + id, migrations, isFar: true)
                ) { try self.check(buckets) }
            },
            deleteRealm: { id in
                try self.check(buckets)
                try await self.drop(prefix + id, self.farPostgres)
            })
    }

    private func check(_ buckets: String) throws {
        guard down.withLock({ $0.contains(buckets) }) else { return }
        throw StorageFault(.unavailable, "nobody answers")
    }

    private func open(
        _ name: String, _ migrations: [Migration], isFar: Bool = false
    ) async throws -> any Storage {
        let task = kept.withLock { kept in
            if let task = kept[name] { return task }
            let task = Task {
                Kept(
                    try await self.openAnew(name, migrations, isFar), Grapevine(), self.counter)
            }
            kept[name] = task
            return task
        }
        return try await task.value
    }

    /// `SHOPKEEPER_TEST_ENGINE=postgres` runs these tests on the other engine.
    static let isOnPostgres =
        ProcessInfo.processInfo.environment["SHOPKEEPER_TEST_ENGINE"] == "postgres"
    /// `SHOPKEEPER_TEST_PARTITIONS` splits the tables into so many parts there.
    private static let partitions = ProcessInfo.processInfo
        .environment["SHOPKEEPER_TEST_PARTITIONS"].flatMap(Int.init)
    private let lent = Mutex<[Bool: LentDatabase]>([:])
    private var postgres: LentDatabase? { lent.withLock { $0[false] } }
    private var farPostgres: LentDatabase? { lent.withLock { $0[true] } }

    private func drop(_ name: String, _ database: LentDatabase?) async throws {
        kept.withLock { $0[name] = nil }
        try await database?.drop(name)
    }

    private func openAnew(
        _ name: String, _ migrations: [Migration], _ isFar: Bool
    ) async throws -> any Storage {
        guard Self.isOnPostgres || server != nil else {
            return try await SQLiteStorage.open(
                file: nil, migrations: migrations,
                options: SQLiteOptions(observer: counter, runsWritesTwice: true))
        }
        var conninfo = server?.conninfo ?? ""
        if server == nil {
            let cluster =
                isFar ? try await TestClusters.second() : try await PostgresCluster.shared()
            conninfo = cluster.conninfo
        }
        let database = lent.withLock { lent in
            let options = PostgresOptions(
                connections: server?.connections ?? 2, waitingMax: 10_000,
                waitMilliseconds: Patience.milliseconds,
                lockMilliseconds: Patience.milliseconds,
                callMilliseconds: Patience.milliseconds,
                partitions: Self.partitions, observer: counter,
                runsWritesTwice: server == nil)
            let database =
                lent[isFar]
                ?? LentDatabase(conninfo, for: server == nil ? "worlds" : nil, options)
            lent[isFar] = database
            return database
        }
        return try await database.storage(name, migrations)
    }

    /// What the stores of one database tell each other.
    final class Grapevine: Sendable {
        private let listeners = Mutex<[AsyncStream<Wake>.Continuation]>([])

        func tell(_ wake: Wake) {
            for listener in listeners.withLock({ $0 }) { listener.yield(wake) }
        }

        func listen() -> AsyncStream<Wake> {
            let (stream, listener) = AsyncStream.makeStream(of: Wake.self)
            listeners.withLock { $0.append(listener) }
            return stream
        }
    }

    /// Tells every store that words may have been lost.
    func missWakes() async throws {
        for task in kept.withLock({ Array($0.values) }) {
            try await task.value.grapevine.tell(.missed)
        }
    }

    /// Answers as long as its cluster is not down.
    struct Fallible: Storage {
        let storage: any Storage
        let check: @Sendable () throws -> Void

        func wake(_ word: String) { storage.wake(word) }

        func wakes() -> AsyncStream<Wake> { storage.wakes() }

        func read<Answer: Sendable>(
            _ body: @escaping @Sendable (any Reading) throws -> Answer
        ) async throws -> Answer {
            try check()
            return try await storage.read(body)
        }

        func write<Answer: Sendable>(
            _ body: @escaping @Sendable (any Writing) throws -> Answer
        ) async throws -> Answer {
            try check()
            return try await storage.write(body)
        }

        func close() async throws {}
    }

    /// Does nothing for a caller that was cancelled, as PostgreSQL, so that what must
    /// be written all the same is seen on both engines.
    struct Kept: Storage {
        let storage: any Storage
        let grapevine: Grapevine
        let counter: Counter

        init(_ storage: any Storage, _ grapevine: Grapevine, _ counter: Counter) {
            (self.storage, self.grapevine, self.counter) = (storage, grapevine, counter)
        }

        func wake(_ word: String) { grapevine.tell(.word(word)) }

        func wakes() -> AsyncStream<Wake> { grapevine.listen() }

        func read<Answer: Sendable>(
            _ body: @escaping @Sendable (any Reading) throws -> Answer
        ) async throws -> Answer {
            try Task.checkCancellation()
            let answer = try await storage.read(body)
            try await counter.finishRead()
            return answer
        }

        func write<Answer: Sendable>(
            _ body: @escaping @Sendable (any Writing) throws -> Answer
        ) async throws -> Answer {
            try Task.checkCancellation()
            return try await storage.write(body)
        }

        func close() async throws {}
    }
}

/// A store in memory with the default realm and one app, and what a test
/// needs to hold it by.
struct TestWorld: Sendable {
    static let bundleID: BundleID = "com.example.monkeys"
    static let context = RequestContext(requestID: "test")

    let places: TestPlaces
    let wall: TestWall
    let logged: Logged
    let store: Store
    let realm: Realm

    /// All stores of this process share their authorities: RSA keys take
    /// long to make.
    static let keys = Task {
        let keys = MemoryKeyStore()
        let authorities = Authorities(keys: keys)
        _ = try await authorities.authority(.sandbox)
        _ = try await authorities.authority(.production)
        return keys
    }

    static func open(
        places: TestPlaces = TestPlaces(), wall: TestWall = TestWall(), seed: Int64? = nil,
        randomness: UInt64 = 1, processor: ScriptedProcessor? = nil, realm: String? = nil,
        environment: Environment = .sandbox, courier: (any Courier)? = nil,
        keys: (any KeyStore)? = nil, opensSandboxes: Bool = true, doorKeys: [Door: String] = [:],
        dueWork: [any DueWorkHandler<Realm>] = [ApprovalTimeout(), SubscriptionWork()],
        content: (any ContentFiles)? = nil, customersOfCommit: Int = CommitSize.subjectsMax,
        sleep: @escaping @Sendable (Duration) async throws -> Void = StorePorts.sleepForEver
    ) async throws -> TestWorld {
        let shared = try await Self.keys.value
        let logged = Logged()
        var ports = StorePorts(
            places: places.places, keys: keys ?? shared, wall: wall.clock,
            randomness: .seeded(randomness), authoriser: { _ in processor },
            courier: courier, passwordCost: PasswordCost(rounds: 2), log: logged.log,
            defaultRealmSeed: seed)
        ports.opensSandboxes = opensSandboxes
        ports.doorKeys = doorKeys
        ports.dueWork = dueWork
        ports.content = content
        ports.customersOfCommit = customersOfCommit
        ports.sleep = sleep
        let store = try await Store.open(ports)
        if let realm, try await store.realms().allSatisfy({ $0.name != realm }) {
            _ = try await store.createRealm(
                CreateRealmRequest(name: realm, environment: environment, seed: nil))
        }
        let opened = try await store.realm(named: realm ?? Store.defaultRealm)
        if try await opened.catalogue.apps().isEmpty {
            try await opened.catalogue.putCatalogue(
                catalogue(), app: AppDescription(bundleID: bundleID))
            if environment == .production { try await begin(opened) }
        }
        return TestWorld(
            places: places, wall: wall, logged: logged, store: store, realm: opened)
    }

    /// Production sells from the first version on that a product came with.
    private static func begin(_ realm: Realm) async throws {
        _ = try await realm.catalogue.createAppVersion(
            CreateAppVersionRequest(version: "1.0", products: ["pro"]),
            bundleID: bundleID.value, context)
        _ = try await realm.catalogue.changeAppVersion(
            "1.0", bundleID: bundleID.value, AppVersionChange(state: "live"), context)
    }

    /// A new process on the same databases.
    func restarted(
        processor: ScriptedProcessor? = nil, randomness: UInt64 = 99,
        courier: (any Courier)? = nil
    ) async throws -> TestWorld {
        await store.close()
        return try await Self.open(
            places: places, wall: wall, randomness: randomness, processor: processor,
            realm: realm.description.name, courier: courier)
    }

    static func catalogue(price: Int64 = 990, storefront: String = "USA") -> Catalogue {
        func product(_ id: String, _ type: ProductType, _ price: Int64) -> Product {
            Product(
                id: ProductID(id), kind: ProductKind(type), referenceName: id,
                price: Amount(milliunits: price),
                localizations: [
                    Localization(
                        locale: "en_US", displayName: "The \(id)", details: "About \(id)"),
                    Localization(locale: "ja", displayName: "猿", details: "猿です"),
                ])
        }
        return Catalogue(
            products: [
                product("credits.5", .consumable, price),
                product("credits.10", .consumable, 1990), product("pro", .nonConsumable, 4990),
                product("monthly", .autoRenewable, 2990),
            ], storefront: storefront, locale: "en_US", appID: 1234)
    }

    static let deviceUUID = "0f0f0f0f-1111-4222-8333-444444444444"

    func signIn(
        customer: String? = nil, password: String? = nil, device: String = deviceUUID,
        bundleID: String? = nil
    ) async throws -> SignInResponse {
        try await realm.customers.signIn(
            SignInRequest(
                bundleId: bundleID, appVersion: "2.1", deviceUUID: device, customer: customer,
                password: password), Self.context)
    }

    func session(
        customer: String? = nil, device: String = deviceUUID, bundleID: String? = nil
    ) async throws -> DeviceSession {
        let token = try await signIn(customer: customer, device: device, bundleID: bundleID).token
        return try await realm.customers.session(token: token)
    }

    /// Buys. What the customer bought of the product before counts as finished, because
    /// most tests are about purchases that are independent of each other. It is marked so
    /// without a new revision.
    @discardableResult
    func buy(
        _ product: String, _ id: String, quantity: Int = 1, price: Int64? = nil,
        username: String? = nil, session: DeviceSession? = nil, isIndependent: Bool = true
    ) async throws -> PurchaseResponse {
        let prices: [String: Int64] = [
            "credits.5": 990, "credits.10": 1990, "pro": 4990, "monthly": 2990,
            "news": 4990, "small": 1990, "premium": 9990, "trial": 0, "weekly": 1490,
        ]
        var buyer = session
        if buyer == nil { buyer = try await self.session() }
        if isIndependent, let customer = buyer?.customer,
            places.isKnown("\(realm.description.id)/\(customer)/\(product)")
        {
            try await realm.finishQuietly(ProductID(product), of: customer, before: id)
        }
        return try await realm.purchases.purchase(
            id,
            PurchaseRequest(
                productId: product, quantity: quantity,
                unitPrice: price ?? prices[product] ?? 990, currency: "USD",
                applicationUsername: username), try #require(buyer), Self.context)
    }

    func verified(_ signed: String?) throws -> JWSTransactionDecodedPayload {
        try Self.payload(try #require(signed), realm)
    }

    static func payload(
        _ signed: String, _ realm: Realm
    ) throws -> JWSTransactionDecodedPayload {
        try verifier(realm).verify(signed, now: nil).payload
    }

    /// All worlds share them, because proving certificates takes most of the time.
    private static let verifiers = Mutex<[[String]: TransactionVerifier]>([:])

    private static func verifier(_ realm: Realm) -> TransactionVerifier {
        let (root, environment) = (realm.authority.root, realm.description.environment)
        return verifiers.withLock { verifiers in
            let key = [Data(root).base64EncodedString(), environment.rawValue]
            if let known = verifiers[key] { return known }
            let fresh = TransactionVerifier(
                roots: [root], bundleID: bundleID, environment: environment)
            verifiers[key] = fresh
            return fresh
        }
    }

    func receipt(_ session: DeviceSession) async throws -> AppReceipt {
        let answer = try await realm.purchases.receipt(ifNoneMatch: nil, session, Self.context)
        guard case .receipt(let bytes, _) = answer else {
            throw StorageFault(.engine, "a receipt was wanted")
        }
        return try ReceiptVerifier(roots: [realm.authority.root])
            .verify(bytes, bundleID: session.bundleID)
    }
}

extension Realm {
    /// Marks what a customer bought of a product as finished, without a new revision.
    func finishQuietly(
        _ product: ProductID, of customer: CustomerID, before id: String
    ) async throws {
        let values: [SQLValue] = [
            .integer(customer.value), .text(product.value), .text(id.lowercased()),
        ]
        let unfinished = Statement(
            "test.unfinished", [.integer, .text, .text],
            """
            SELECT transaction_id FROM transactions WHERE customer_id = $1 AND product_id = $2
                AND finished_at IS NULL AND product_type = 'consumable' AND purchase_id <> $3
            """)
        let finish = Statement(
            "test.finish", [.integer, .text, .text],
            """
            UPDATE transactions SET finished_at = purchased_at
            WHERE customer_id = $1 AND product_id = $2 AND finished_at IS NULL
                AND product_type = 'consumable' AND purchase_id <> $3
            """)
        guard try await !read(of: customer, { try $0.query(unfinished, values) }).isEmpty else {
            return
        }
        try await bookkeeping(of: customer) { try $0.execute(finish, values) }
    }
}

/// The purchase id number `n` of a test.
func purchaseID(_ n: Int) -> String {
    "00000000-0000-4000-8000-" + String(repeating: "0", count: 12 - "\(n)".count) + "\(n)"
}

/// The refusal that an operation throws.
func refusal<Answer>(
    of operation: () async throws -> Answer, _ location: SourceLocation = #_sourceLocation
) async throws -> Refusal {
    do { _ = try await operation() } catch let refusal as Refusal { return refusal }
    Issue.record("nothing was refused", sourceLocation: location)
    throw StorageFault(.engine, "nothing was refused")
}

extension AppReceipt {
    var purchaseIDs: [String] { purchases.map(\.transactionID) }
}
