// SPDX-License-Identifier: Apache-2.0

public import Commerce
import SignedData
public import Storage
public import StoreWire
import Work

/// The places of databases. The executable or a test supplies them.
public struct StoragePlaces: Sendable {
    /// Opens the registry and migrates it.
    public var registry: @Sendable ([Migration]) async throws -> any Storage
    /// Opens the database of a realm, and creates it if there is none.
    public var realm: @Sendable (_ id: String, [Migration]) async throws -> any Storage
    /// Deletes the closed database of a realm. A repeated call has no effect.
    public var deleteRealm: @Sendable (_ id: String) async throws -> Void
    /// Whether no other process can have these databases open. Errands of an
    /// earlier process are then free at once, without waiting for their leases.
    public var isOneProcess: Bool
    /// Whether leases use the database's time. Otherwise they use this
    /// machine's, which all users of the database share.
    public var leasesInDatabaseTime: Bool
    /// Throws if the database may lose what it has acknowledged. Called before
    /// a production realm is opened.
    public var proveDurable: @Sendable () async throws -> Void
    /// Other clusters, each with the customers of its buckets. These places are
    /// then the home's: they have the registry, the names, what is
    /// administered, and the customers of all other buckets.
    public var clusters: [ClusterPlace] = []

    public init(
        registry: @escaping @Sendable ([Migration]) async throws -> any Storage,
        realm: @escaping @Sendable (_ id: String, [Migration]) async throws -> any Storage,
        deleteRealm: @escaping @Sendable (_ id: String) async throws -> Void,
        isOneProcess: Bool = false, leasesInDatabaseTime: Bool = false,
        proveDurable: @escaping @Sendable () async throws -> Void = {}
    ) {
        self.leasesInDatabaseTime = leasesInDatabaseTime
        self.isOneProcess = isOneProcess
        self.proveDurable = proveDurable
        self.registry = registry
        self.realm = realm
        self.deleteRealm = deleteRealm
    }
}

/// The cost of hashing a password: scrypt's parameters.
public struct PasswordCost: Hashable, Sendable {
    /// N, a power of two.
    public let rounds: Int
    /// scrypt's r.
    public let blockSize: Int
    /// scrypt's p.
    public let parallelism: Int

    /// `rounds` is a power of two from 2 to 2^20. The memory is 128 · rounds ·
    /// blockSize bytes.
    public init(rounds: Int, blockSize: Int = 8, parallelism: Int = 1) {
        precondition(
            (2...1_048_576).contains(rounds) && rounds & (rounds - 1) == 0,
            "scrypt's rounds are a power of two from 2 to 2^20")
        precondition(
            (1...32).contains(blockSize) && (1...16).contains(parallelism),
            "scrypt's block size is 1 to 32 and its parallelism 1 to 16")
        self.rounds = rounds
        self.blockSize = blockSize
        self.parallelism = parallelism
    }

    /// The most memory for verifying a stored password, which may come from a
    /// foreign backup. A hash that costs more is never one of ours.
    static let bytesMax = 256 * 1024 * 1024
    /// The highest N · r · p for this: four times what OWASP recommends.
    static let mixesMax = 4_194_304

    /// 128 MiB and some tenths of a second for each hash. This is the first
    /// recommendation of OWASP's Password Storage Cheat Sheet (N = 2^17, r = 8,
    /// p = 1).
    public static let standard = PasswordCost(rounds: 131_072)

    /// Time is proportional to this.
    var work: Int { rounds * blockSize * parallelism }
}

/// Everything that a store needs from outside.
public struct StorePorts: Sendable {
    public var places: StoragePlaces
    public var keys: any KeyStore
    public var wall: WallClock
    /// Must be unpredictable where money is at stake, because keys and tokens
    /// come from it.
    public var randomness: Randomness
    /// Returns the payment processor of a realm. If nil, a sandbox sells
    /// without charging, and a production realm refuses to sell.
    public var authoriser: @Sendable (RealmDescription) -> (any Authoriser)?
    /// Delivers notifications. If nil, owed ones wait for a process that has a
    /// courier.
    public var courier: (any Courier)?
    public var passwordCost: PasswordCost
    /// How many passwords are hashed at once. Each needs the memory of one
    /// hash.
    public var passwordWorkers = 2
    public var log: ShopLog
    /// Sleeps until a due date. Ends early when its task is cancelled.
    public var sleep: @Sendable (Duration) async throws -> Void
    /// The seed of the realm `default`, if this start creates it.
    public var defaultRealmSeed: Int64?
    /// The URL in new certificates at which their status can be requested. Nil
    /// for none.
    public var statusURL: String?
    /// The URL for the sandbox's certificates only, if ``statusURL`` is nil.
    /// Only this machine can use it, and only while the store keeps its port.
    public var sandboxStatusURL: String?
    /// Whether any client may sign in as a sandbox's customer without a
    /// password. False if others can reach the store.
    public var opensSandboxes = true
    /// Returns the number of commits, if they are counted.
    public var commits: (@Sendable () -> Int)?
    /// The handlers of inner work.
    var dueWork: [any DueWorkHandler<Realm>] = [ApprovalTimeout()]
    /// Keys of doors, in place of those that the store generated.
    public var doorKeys: [Door: String] = [:]

    public init(
        places: StoragePlaces, keys: any KeyStore, wall: WallClock, randomness: Randomness,
        authoriser: @escaping @Sendable (RealmDescription) -> (any Authoriser)? = { _ in nil },
        courier: (any Courier)? = nil,
        passwordCost: PasswordCost = .standard, log: ShopLog = .silent,
        sleep: @escaping @Sendable (Duration) async throws -> Void = Self.sleepForEver,
        defaultRealmSeed: Int64? = nil, statusURL: String? = nil
    ) {
        self.statusURL = statusURL
        self.places = places
        self.keys = keys
        self.wall = wall
        self.randomness = randomness
        self.authoriser = authoriser
        self.courier = courier
        self.passwordCost = passwordCost
        self.log = log
        self.sleep = sleep
        self.defaultRealmSeed = defaultRealmSeed
    }

    var statusURLs: [AuthorityKind: String] {
        var urls: [AuthorityKind: String] = [:]
        urls[.production] = statusURL
        urls[.sandbox] = statusURL ?? sandboxStatusURL
        return urls
    }

    /// Waits until its task is cancelled. For stores in which time does not
    /// pass by itself: only commits and moved clocks wake the workers.
    public static let sleepForEver: @Sendable (Duration) async throws -> Void = { _ in
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        for await _ in stream {}
        withExtendedLifetime(continuation) {}
    }
}
