// SPDX-License-Identifier: Apache-2.0

import Commerce

/// The contents of the queue file: everything that a device must remember about
/// one store and one app.
struct QueueRecord: Hashable, Sendable, Codable {
    /// Raised when a field is added that an older reader would lose.
    static let versionMax = 3
    /// Files of version 2 have no restored entries. Older ones have other codes of
    /// failures.
    static let versionMin = 2

    /// A realm that this device has used, with the root pinned for it.
    struct KnownRealm: Hashable, Sendable, Codable {
        var id: String
        var generation: Int64
        /// DER in Base64.
        var root: String
    }

    /// A customer whose history the store has cleared, or whose transactions it has
    /// revoked.
    struct KnownCustomer: Hashable, Sendable, Codable {
        var owner: Owner
        /// The revision of the last clearing that was carried out here. The
        /// store may report it again. -1 if there was none.
        var cleared: Int64
        /// The transactions that are revoked. If one of them is not any more, the
        /// receipt is fetched again. An older reader loses them, and fetches the
        /// receipt when something else happens.
        var revoked: [String]?
    }

    /// The last customer that signed in, and the name that was used. They apply
    /// while the store cannot be reached.
    struct LastSignIn: Hashable, Sendable, Codable {
        var owner: Owner
        /// The configured name. Nil for the realm's default customer.
        var name: String?
    }

    struct Receipt: Hashable, Sendable, Codable {
        /// The path of the file in the folder of the queue file.
        var path: String
        var etag: String?
        var owner: Owner
    }

    var version = QueueRecord.versionMax
    var storeURL: String
    var bundleID: String?
    /// This installation's id, generated with the file.
    var deviceUUID: String
    var realms: [KnownRealm] = []
    var customers: [KnownCustomer] = []
    var lastSignIn: LastSignIn?
    var receipt: Receipt?
    var entries: [QueueEntry] = []

    init(storeURL: String, bundleID: String?, deviceUUID: String) {
        self.storeURL = storeURL
        self.bundleID = bundleID
        self.deviceUUID = deviceUUID
    }

    func entry(_ key: String) -> QueueEntry? { entries.first { $0.key == key } }

    func realm(_ id: String) -> KnownRealm? { realms.first { $0.id == id } }

    func revoked(of owner: Owner) -> Set<String> {
        Set(customers.first { $0.owner == owner }?.revoked ?? [])
    }

    func cleared(of owner: Owner) -> Int64? {
        customers.first { $0.owner == owner }?.cleared
    }

    /// Returns the entries of a launch for a customer. Entries of other
    /// launches belong to those while they live, and entries of other customers
    /// wait until those sign in.
    func entries(of launch: String, for owner: Owner?) -> [QueueEntry] {
        entries.filter { $0.launch == launch && ($0.owner == nil || $0.owner == owner) }
    }
}
