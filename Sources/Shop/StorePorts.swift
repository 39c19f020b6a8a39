// SPDX-License-Identifier: Apache-2.0

public import Commerce
import SignedData
public import Storage
public import StoreWire

/// Where databases live: given by the executable or by tests.
public struct StoragePlaces: Sendable {
    /// Opens the registry and brings its schema up to date.
    public var registry: @Sendable ([Migration]) async throws -> any Storage
    /// Opens the database of a realm, making it where there is none.
    public var realm: @Sendable (_ id: String, [Migration]) async throws -> any Storage
    /// Deletes the closed database of a realm; deleting again changes nothing.
    public var deleteRealm: @Sendable (_ id: String) async throws -> Void
    /// Whether no other process can have these databases open: then work
    /// that an earlier one had begun is free at once, and no lease is waited for.
    public var isOneProcess: Bool
    /// Whether leases run in the database's time; else in this machine's,
    /// which is that of whoever else could look.
    public var leasesInDatabaseTime: Bool
    /// Throws where the database may lose what it acknowledges: asked before
    /// a production realm is opened.
    public var proveDurable: @Sendable () async throws -> Void
    /// Other clusters, each with the customers of its buckets. These places
    /// are the home's then: registry, names, what is administered, and the
    /// customers of the buckets that no other has.
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

/// How dear a guess at a password is: scrypt's parameters.
public struct PasswordCost: Hashable, Sendable {
    /// N, a power of two.
    public let rounds: Int
    /// r.
    public let blockSize: Int
    /// p.
    public let parallelism: Int

    /// `rounds` is a power of two from 2 to 2^20; memory is 128 · rounds · blockSize bytes.
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

    /// Memory of a guess at a stored password, which may be a stranger's: a
    /// hash that costs more is nobody's.
    static let bytesMax = 256 * 1024 * 1024
    /// N · r · p of such a guess: four times what OWASP recommends.
    static let mixesMax = 4_194_304

    /// 128 MiB and some tenths of a second a guess: what OWASP's Password Storage
    /// Cheat Sheet recommends first (N = 2^17, r = 8, p = 1).
    public static let standard = PasswordCost(rounds: 131_072)

    /// What time grows with.
    var work: Int { rounds * blockSize * parallelism }
}

/// Everything a store needs from outside.
public struct StorePorts: Sendable {
    public var places: StoragePlaces
    public var keys: any KeyStore
    public var wall: WallClock
    /// Must not be foreseeable where money is at stake: keys and tokens come from it.
    public var randomness: Randomness
    /// The payment processor of a realm. Nil: a sandbox sells by rule, a
    /// production realm refuses to sell.
    public var authoriser: @Sendable (RealmDescription) -> (any Authoriser)?
    /// Who carries notifications; nil: those owed wait for a process that has one.
    public var courier: (any Courier)?
    public var passwordCost: PasswordCost
    /// Passwords that are hashed at once; each takes the memory of a guess.
    public var passwordWorkers = 2
    public var log: ShopLog
    /// Waits for a due date to come; ends early when its task is cancelled.
    public var sleep: @Sendable (Duration) async throws -> Void
    /// Seed of the realm `default` when this start makes it.
    public var defaultRealmSeed: Int64?
    /// Where certificates made from now on say that their status is told; nil: nowhere.
    public var statusURL: String?
    /// The same for the sandbox's alone, where ``statusURL`` names none: an address
    /// that only this machine can ask, and for as long as the store keeps its port.
    public var sandboxStatusURL: String?
    /// Whether a sandbox's customer without a password is anybody's. False
    /// where anybody could reach the store.
    public var opensSandboxes = true
    /// How many commits there were, where somebody counts them.
    public var commits: (@Sendable () -> Int)?
    /// Who does inner work.
    var dueWork: [any DueWorkHandler] = [ApprovalTimeout()]
    /// Keys of doors, in place of those that the store made for itself.
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

    /// Waits until its task is cancelled: where no time passes by itself,
    /// only commits and moved clocks wake who works.
    public static let sleepForEver: @Sendable (Duration) async throws -> Void = { _ in
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        for await _ in stream {}
        withExtendedLifetime(continuation) {}
    }
}
