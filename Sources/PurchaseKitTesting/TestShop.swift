// SPDX-License-Identifier: Apache-2.0

import CatalogueFile
public import Commerce
import Foundation
import Live
public import PurchaseKit
public import Shop
import SignedData
public import StorageSQLite
public import StoreWire
import Synchronization

/// A store in the test's own process: no sockets, a folder of its own that is
/// removed afterwards, and clocks that the test moves. Any number of them
/// may run in parallel; none sees another.
///
/// ```swift
/// let shop = try await TestShop(contentsOf: "Shop.storekit")
/// let device = try await shop.device()
/// let hero = MyObserver()               // the app's own code
/// device.queue.add(hero)
/// try await device.buy("credits.5")
/// let bought = try await device.heard.first(.purchased)
/// device.queue.finishTransaction(bought)
/// ```
///
/// A test is repeatable: unless told otherwise the store is seeded, and wall
/// time stands at ``TestWallClock/start``. A class, because a test and its
/// devices hold one store, and the folder goes with the last of them.
public final class TestShop: Sendable {
    /// How a store is set up.
    public struct Options: Sendable {
        /// Same seed, same commands: same ids. Nil draws them by lot.
        public var seed: UInt32? = 1
        /// The machine's time; commercial time runs with it until it is moved.
        public var wall = TestWallClock()
        /// How its files are opened: who hears their statements.
        public var databases = SQLiteOptions()
        /// Where its databases are, such as on PostgreSQL; nil: files in the
        /// store's own folder. Each store needs places of its own.
        public var places: StoragePlaces?
        /// The engine of ``places``, which copies of the store must know.
        public var dialect = SQLiteStorage.dialect
        /// A payment processor; without one the sandbox sells by rule.
        public var processor: (any Authoriser)?
        public var log = ShopLog.silent
        /// Whether the app has a merchant's server that is told of sales:
        /// ``TestShop/notifications``.
        public var notifies = true

        public init() {}
    }

    public let bundleID: BundleID
    public let wall: TestWallClock
    /// What the app's merchant was told, and how it answers.
    public let notifications = NotificationLog()
    /// What lies between devices and store, and what goes wrong on it.
    public let wire = TestWire()
    let folder: TemporaryFolder
    let options: Options
    /// What devices check signatures against, in DER.
    let root: [UInt8]
    private let randomness: Randomness
    private let places: Mutex<OwnPlaces?>
    private let opened: Mutex<(store: Store, realm: Realm, working: Task<Void, Never>)>
    private let devices = Mutex<(all: [TestDevice], made: UInt64)>(([], 0))
    private let reach = Mutex(true)

    /// A store that sells what a `.storekit` file lists. Throws
    /// ``CatalogueFileFault`` where the file cannot be read.
    public convenience init(
        contentsOf path: String, bundleID: BundleID = "com.example.app",
        options: Options = Options()
    ) async throws {
        try await self.init(
            try CatalogueFile(contentsOf: path).catalogue, bundleID: bundleID, options: options)
    }

    /// A store that sells a catalogue.
    public init(
        _ catalogue: Catalogue, bundleID: BundleID, options: Options = Options()
    ) async throws {
        self.bundleID = bundleID
        self.options = options
        wall = options.wall
        folder = try TemporaryFolder()
        randomness = options.seed.map { .seeded(UInt64($0)) } ?? Live.randomness
        let own = options.places.map(OwnPlaces.init)
        let store = try await Store.open(
            try await Self.ports(folder, randomness, options, own?.places, notifications))
        places = Mutex(own)
        let realm = try await store.realm(named: Store.defaultRealm)
        try await realm.putCatalogue(catalogue, app: AppDescription(bundleID: bundleID))
        root = try await store.rootCertificate(.sandbox).der
        notifications.trust(root: root)
        if options.notifies {
            try await realm.setNotificationURL(
                Self.notificationURL, bundleID: bundleID.value, RequestContext(requestID: "test"))
        }
        opened = Mutex((store, realm, Task { await store.work() }))
    }

    deinit {
        let (store, working, folder) = (store, opened.withLock { $0.working }, folder)
        let devices = devices.withLock { $0.all }
        Task {
            for device in devices { await device.close() }
            working.cancel()
            await working.value
            await store.close()
            withExtendedLifetime(folder) {}
        }
    }

    /// The store, with the verbs of its operators.
    public var store: Store { opened.withLock { $0.store } }
    /// The realm that the devices buy in.
    public var realm: Realm { opened.withLock { $0.realm } }
    /// The realm's commercial time.
    public var clock: TestClock { TestClock(shop: self) }

    /// Whether devices reach the store; where not, calls fail before they leave.
    public var isReachable: Bool {
        get { reach.withLock { $0 } }
        set { reach.withLock { $0 = newValue } }
    }

    /// Makes a customer who signs in by name, without a password. Throws
    /// ``Refusal``, as ``Realm/createCustomer(_:)`` says.
    @discardableResult
    public func addCustomer(
        _ name: String, storefront: String? = nil, canMakePayments: Bool = true,
        asksToBuy: Bool = false
    ) async throws -> CustomerSummary {
        try await realm.createCustomer(
            CreateCustomerRequest(
                name: name, storefront: storefront, canMakePayments: canMakePayments,
                asksToBuy: asksToBuy))
    }

    /// A device with the app installed; `customer` nil is the sandbox's
    /// default one. `ports` may change what the device stands on.
    public func device(
        customer: String? = nil, sheet: TestSheet = TestSheet(),
        options: TestDevice.Options = TestDevice.Options(),
        ports: @escaping @Sendable (inout DevicePorts) -> Void = { _ in }
    ) async throws -> TestDevice {
        let number = devices.withLock { devices in
            devices.made += 1
            return devices.made
        }
        let device = try TestDevice(
            shop: self, number: number, customer: customer, sheet: sheet, options: options,
            change: ports)
        devices.withLock { $0.all.append(device) }
        return device
    }

    /// Stops the store and starts another on the same databases, as after a
    /// crash or an update. Sessions go on.
    public func restart() async throws {
        await stop()
        try await start()
    }

    /// Ends every device and the store. Later calls throw.
    public func close() async {
        for device in devices.withLock({ $0.all }) { await device.close() }
        await stop()
    }

    /// Where its databases are, if not in files of its own.
    var ownPlaces: OwnPlaces? { places.withLock { $0 } }

    /// Starts it, from other places where such are named.
    func start(in others: StoragePlaces? = nil) async throws {
        if let others { places.withLock { $0 = OwnPlaces(others) } }
        let store = try await Store.open(
            try await Self.ports(folder, randomness, options, ownPlaces?.places, notifications))
        let realm = try await store.realm(named: Store.defaultRealm)
        opened.withLock { $0 = (store, realm, Task { await store.work() }) }
    }

    func stop() async {
        let (store, working) = opened.withLock { ($0.store, $0.working) }
        working.cancel()
        await working.value
        await store.close()
    }

    /// Nobody is there: the log stands in for the network.
    private static let notificationURL = "http://merchant.invalid/notifications"

    private static func ports(
        _ folder: TemporaryFolder, _ randomness: Randomness, _ options: Options,
        _ places: StoragePlaces?, _ notifications: NotificationLog
    ) async throws -> StorePorts {
        StorePorts(
            places: places ?? .files(in: folder, options.databases),
            keys: try await TestAuthority.keys.value, wall: options.wall.clock,
            randomness: randomness, authoriser: { _ in options.processor },
            courier: notifications, passwordCost: PasswordCost(rounds: 2), log: options.log,
            defaultRealmSeed: options.seed.map(Int64.init))
    }
}

extension StoragePlaces {
    /// A file for each database.
    static func files(in folder: TemporaryFolder, _ options: SQLiteOptions) -> StoragePlaces {
        StoragePlaces(
            registry: { migrations in
                try await SQLiteStorage.open(
                    file: folder.file("store/registry.sqlite"), migrations: migrations,
                    options: options)
            },
            realm: { id, migrations in
                try await SQLiteStorage.open(
                    file: folder.file("store/realm-\(id).sqlite"), migrations: migrations,
                    options: options)
            },
            deleteRealm: { id in
                for suffix in ["", "-wal", "-shm"] {
                    let path = folder.file("store/realm-\(id).sqlite\(suffix)")
                    guard FileManager.default.fileExists(atPath: path) else { continue }
                    try FileManager.default.removeItem(atPath: path)
                }
            }, isOneProcess: true)
    }
}
