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

/// A store in the test's own process: without sockets, with its own folder that
/// is removed afterwards, and with clocks that the test moves. Any number of
/// them can run in parallel, independently.
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
/// A test is repeatable: by default the store is seeded, and wall time stands
/// at ``TestWallClock/start``. A class, because a test and its devices share
/// one store, and the folder is removed with the last of them.
public final class TestShop: Sendable {
    /// The settings of a store.
    public struct Options: Sendable {
        /// The same seed and the same commands produce the same ids. Nil for
        /// random ids.
        public var seed: UInt32? = 1
        /// The machine's time. Commercial time runs with it until it is moved.
        public var wall = TestWallClock()
        /// How its files are opened, for example with an observer of their
        /// statements.
        public var databases = SQLiteOptions()
        /// The places of its databases, for example on PostgreSQL. Nil for
        /// files in the store's own folder. Each store needs places of its own.
        public var places: StoragePlaces?
        /// The engine of ``places``, which backups of the store need.
        public var dialect = SQLiteStorage.dialect
        /// A payment processor. Without one, the sandbox sells without
        /// charging.
        public var processor: (any Authoriser)?
        public var log = ShopLog.silent
        /// Whether the app has a merchant's server that receives notifications
        /// of sales: ``TestShop/notifications``.
        public var notifies = true

        public init() {}
    }

    public let bundleID: BundleID
    public let wall: TestWallClock
    /// The notifications that the app's merchant received, and how it answers.
    public let notifications = NotificationLog()
    /// The connection between devices and store, and its faults.
    public let wire = TestWire()
    let folder: TemporaryFolder
    let options: Options
    /// The root with which devices verify signatures, in DER.
    let root: [UInt8]
    private let randomness: Randomness
    private let places: Mutex<OwnPlaces?>
    private let opened: Mutex<(store: Store, realm: Realm, working: Task<Void, Never>)>
    private let devices = Mutex<(all: [TestDevice], made: UInt64)>(([], 0))
    private let reach = Mutex(true)

    /// Makes a store with the products of a `.storekit` file. Throws
    /// ``CatalogueFileFault`` if the file cannot be read.
    public convenience init(
        contentsOf path: String, bundleID: BundleID = "com.example.app",
        options: Options = Options()
    ) async throws {
        try await self.init(
            try CatalogueFile(contentsOf: path).catalogue, bundleID: bundleID, options: options)
    }

    /// Makes a store with the products of a catalogue.
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
        try await realm.catalogue.putCatalogue(catalogue, app: AppDescription(bundleID: bundleID))
        root = try await store.rootCertificate(.sandbox).der
        notifications.trust(root: root)
        if options.notifies {
            try await realm.catalogue.setNotificationURL(
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

    /// The store, with the functions for its operators.
    public var store: Store { opened.withLock { $0.store } }
    /// The realm in which the devices buy.
    public var realm: Realm { opened.withLock { $0.realm } }
    /// The realm's commercial time.
    public var clock: TestClock { TestClock(shop: self) }

    /// Whether devices can reach the store. If not, calls fail before they
    /// leave the device.
    public var isReachable: Bool {
        get { reach.withLock { $0 } }
        set { reach.withLock { $0 = newValue } }
    }

    /// Creates a customer who signs in by name without a password. Throws
    /// ``Refusal`` like ``CustomerRoom/createCustomer(_:)``.
    @discardableResult
    public func addCustomer(
        _ name: String, storefront: String? = nil, canMakePayments: Bool = true,
        asksToBuy: Bool = false
    ) async throws -> CustomerSummary {
        try await realm.customers.createCustomer(
            CreateCustomerRequest(
                name: name, storefront: storefront, canMakePayments: canMakePayments,
                asksToBuy: asksToBuy))
    }

    /// Makes a device with the app installed. If `customer` is nil, this is the
    /// sandbox's default customer. `ports` can change the device's ports.
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

    /// Stops the store and starts another with the same databases, as after a
    /// crash or an update. Sessions remain valid.
    public func restart() async throws {
        await stop()
        try await start()
    }

    /// Closes every device and the store. Later calls throw.
    public func close() async {
        for device in devices.withLock({ $0.all }) { await device.close() }
        await stop()
    }

    /// The places of its databases, if they are not files in its folder.
    var ownPlaces: OwnPlaces? { places.withLock { $0 } }

    /// Starts the store, in other places if given.
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

    /// No server has this address. The log takes the place of the network.
    private static let notificationURL = "http://merchant.invalid/notifications"

    private static func ports(
        _ folder: TemporaryFolder, _ randomness: Randomness, _ options: Options,
        _ places: StoragePlaces?, _ notifications: NotificationLog
    ) async throws -> StorePorts {
        var ports = StorePorts(
            places: places ?? .files(in: folder, options.databases),
            keys: try await TestAuthority.keys.value, wall: options.wall.clock,
            randomness: randomness, authoriser: { _ in options.processor },
            courier: notifications, passwordCost: PasswordCost(rounds: 2), log: options.log,
            defaultRealmSeed: options.seed.map(Int64.init))
        ports.jumpNotifications = .awaited
        ports.content = FolderContentFiles(path: folder.file("content"))
        return ports
    }
}

extension StoragePlaces {
    /// One file for each database.
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
