// SPDX-License-Identifier: Apache-2.0

import Commerce

/// What the queue file holds: everything a device must not forget about one
/// store and one app.
struct QueueRecord: Hashable, Sendable, Codable {
    /// Raised whenever a field is added that an older reader would lose.
    static let versionMax = 1

    /// A realm that this device has met, with the root pinned for it.
    struct KnownRealm: Hashable, Sendable, Codable {
        var id: String
        var generation: Int64
        /// DER in Base64.
        var root: String
    }

    /// A customer who has signed in here.
    struct KnownCustomer: Hashable, Sendable, Codable {
        var owner: Owner
        /// Where the next request for transactions starts.
        var revision: Int64
        /// The last transaction of that revision that was read, where more follow.
        var after: Int64?

        var cursor: ReadCursor { ReadCursor(revision: revision, after: after) }
    }

    /// Who signed in last, and under which name: what is believed while the
    /// store cannot be asked.
    struct LastSignIn: Hashable, Sendable, Codable {
        var owner: Owner
        /// The configured name; nil for the realm's default customer.
        var name: String?
    }

    struct Receipt: Hashable, Sendable, Codable {
        /// The file beside the queue's.
        var path: String
        var etag: String?
        var owner: Owner
    }

    var version = QueueRecord.versionMax
    var storeURL: String
    var bundleID: String?
    /// This installation's own, made with the file.
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

    func cursor(of owner: Owner) -> ReadCursor {
        customers.first { $0.owner == owner }?.cursor ?? ReadCursor(revision: 0)
    }

    /// Entries of other launches belong to those while they live, and those
    /// of other customers wait for them.
    func entries(of launch: String, for owner: Owner?) -> [QueueEntry] {
        entries.filter { $0.launch == launch && ($0.owner == nil || $0.owner == owner) }
    }
}
