// SPDX-License-Identifier: Apache-2.0

public import Commerce
import SignedData
import Storage
public import StoreWire
import Work

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
    /// Where the packages of hosted content are kept. If nil, the store hosts none.
    public var content: (any ContentFiles)?
    public var passwordCost: PasswordCost
    /// How many passwords are hashed at once, and how many receipts are verified.
    /// Each password needs the memory of one hash.
    public var passwordWorkers = 2
    public var log: ShopLog
    /// Sleeps until a due date. Ends early when its task is cancelled.
    public var sleep: @Sendable (Duration) async throws -> Void
    /// What happens to the notifications of a jump that does not choose.
    public var jumpNotifications = JumpNotifications.queued
    /// The seed of the realm `default`, if this start creates it.
    public var defaultRealmSeed: Int64?
    /// The environment of that realm. One that exists must have it. Nil for a sandbox,
    /// or whatever it has.
    public var defaultRealmEnvironment: Environment?
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
    /// The handlers of inner work, in place of the store's own.
    var dueWork: [any DueWorkHandler<Realm>]?
    /// The number of customers whose inner work one commit does.
    var customersOfCommit = CommitSize.subjectsMax
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
