// SPDX-License-Identifier: Apache-2.0

public import Commerce

/// A realm, as operators see it.
public struct RealmSummary: Hashable, Sendable, Codable {
    /// Created once and never used for another realm.
    public var id: String
    public var name: String
    /// `Sandbox` or `Production`.
    public var environment: Environment
    /// The seed of a repeatable realm. Missing for others.
    public var seed: Int64?
    /// The wall time of its creation.
    public var createdDate: Timestamp

    public init(
        id: String, name: String, environment: Environment, seed: Int64?, createdDate: Timestamp
    ) {
        self.id = id
        self.name = name
        self.environment = environment
        self.seed = seed
        self.createdDate = createdDate
    }
}

/// Requests a new realm.
public struct CreateRealmRequest: Hashable, Sendable, Codable {
    /// 1 to 40 of `a`–`z`, `0`–`9` and `-`.
    public var name: String
    /// `Sandbox` (if missing) or `Production`.
    public var environment: Environment?
    /// The same seed and the same commands produce the same ids. Sandboxes
    /// only.
    public var seed: Int64?

    public init(name: String, environment: Environment? = nil, seed: Int64? = nil) {
        self.name = name
        self.environment = environment
        self.seed = seed
    }
}

/// What a reset deleted from a realm.
public struct RealmReset: Hashable, Sendable, Codable {
    /// The realm's name.
    public var realm: String
    /// The new generation, by which devices recognise that they must read
    /// everything again.
    public var generation: Int64
    public var purchases: Int64
    public var transactions: Int64
    /// The number of sessions, including ended ones.
    public var sessions: Int64

    public init(
        realm: String, generation: Int64, purchases: Int64, transactions: Int64, sessions: Int64
    ) {
        self.realm = realm
        self.generation = generation
        self.purchases = purchases
        self.transactions = transactions
        self.sessions = sessions
    }
}

/// A realm's commercial time.
public struct ClockDescription: Hashable, Sendable, Codable {
    /// The clock's current time.
    public var now: Timestamp
    public var isStanding: Bool
    /// How far a running clock is ahead of the machine's. Missing while it
    /// stands.
    public var offsetMilliseconds: Int64?
    /// The clock's speed as a multiple of the machine's. A standing clock uses
    /// it when it runs again. Missing for 1.
    public var rate: Int64?
    /// Apple's name of the rate by which the periods of subscriptions are shorter than
    /// in the calendar. Missing if they are not.
    public var timeRate: String?
    /// The jump whose due work is still to be done, on any cluster. Missing if
    /// there is none.
    public var jump: JumpDescription?
    /// The clusters that do not have this time yet, by their buckets: they do
    /// not answer, or the clock's last change has not reached them. Missing if
    /// there is none.
    public var clustersAway: [String]?
    /// What became of the notifications of the jump that this answers, if they were
    /// awaited. Missing otherwise.
    public var notifications: SentInJump?
    /// The clock's number if it is customers' own. Missing for the realm's.
    public var clockId: String?
    /// The numbers of the customers that have this clock. Missing for the realm's.
    public var customerIds: [String]?

    public init(
        now: Timestamp, isStanding: Bool, offsetMilliseconds: Int64?, rate: Int64? = nil,
        timeRate: String? = nil, jump: JumpDescription? = nil, clustersAway: [String]? = nil,
        notifications: SentInJump? = nil, clockId: String? = nil,
        customerIds: [String]? = nil
    ) {
        self.notifications = notifications
        self.clockId = clockId
        self.customerIds = customerIds
        self.now = now
        self.isStanding = isStanding
        self.offsetMilliseconds = offsetMilliseconds
        self.rate = rate
        self.timeRate = timeRate
        self.jump = jump
        self.clustersAway = clustersAway
    }
}

/// The clocks that customers of a realm have.
public struct ClockList: Hashable, Sendable, Codable {
    public var clocks: [ClockDescription]

    public init(clocks: [ClockDescription]) {
        self.clocks = clocks
    }
}

/// Gives customers a clock of their own, which they share.
public struct AttachClockRequest: Hashable, Sendable, Codable {
    /// Numbers or sign-in names.
    public var customers: [String]
    /// A clock that other customers have. If missing, a new one, which goes on from the
    /// time of the first customer.
    public var clockId: String?

    public init(customers: [String], clockId: String? = nil) {
        self.customers = customers
        self.clockId = clockId
    }
}

/// A jump of a clock, while the work that it made due is being done.
public struct JumpDescription: Hashable, Sendable, Codable {
    /// Where the clock has jumped to.
    public var target: Timestamp
    /// What was due before this instant has happened.
    public var reached: Timestamp

    public init(target: Timestamp, reached: Timestamp) {
        self.target = target
        self.reached = reached
    }
}

/// What became of the notifications of a jump, as far as this process sent them.
public struct SentInJump: Hashable, Sendable, Codable {
    public var delivered: Int
    /// Attempted once, and not delivered.
    public var failed: Int
    /// Not attempted, because their endpoint had failed three times in a row.
    public var unsent: Int

    public init(delivered: Int, failed: Int, unsent: Int) {
        self.delivered = delivered
        self.failed = failed
        self.unsent = unsent
    }
}

/// Changes a sandbox's clock. Exactly one field must be present, beside
/// ``notifications``.
public struct MoveClockRequest: Hashable, Sendable, Codable {
    /// Stands still at this instant.
    public var standAt: Timestamp?
    /// Runs from this many milliseconds ahead of the machine's clock on (behind
    /// if negative), at the clock's rate. 0 follows the machine's clock: the
    /// rate becomes 1.
    public var runOffsetMilliseconds: Int64?
    /// Jumps forward by this many milliseconds, and then runs or stands as
    /// before.
    public var advanceMilliseconds: Int64?
    /// Jumps forward by this period of the calendar, in ISO 8601 (`P1M`), and
    /// then runs or stands as before.
    public var advancePeriod: String?
    /// Moves to this instant, and then runs or stands as before.
    public var moveTo: Timestamp?
    /// Whether it stands or runs on, from its current time.
    public var isStanding: Bool?
    /// Runs at this multiple of the machine's clock, from its current time. A
    /// standing clock uses the speed when it runs again.
    public var rate: Int64?
    /// Runs at the rate of this name, from its current time: one of Apple's, such as
    /// `monthlyRenewalEveryFiveMinutes`. It sets the speed, and how long the periods of
    /// subscriptions last. `rate` puts periods back to the calendar.
    public var timeRate: String?
    /// Ends the jump that is under way where its work has come to: the clock goes
    /// back there. True.
    public var stopsJump: Bool?
    /// What happens to the notifications that the move causes: `await`, `queue` or
    /// `drop`. If missing, the store's own choice.
    public var notifications: String?

    public init(
        standAt: Timestamp? = nil, runOffsetMilliseconds: Int64? = nil,
        advanceMilliseconds: Int64? = nil, advancePeriod: String? = nil,
        moveTo: Timestamp? = nil, isStanding: Bool? = nil, rate: Int64? = nil,
        timeRate: String? = nil, stopsJump: Bool? = nil, notifications: String? = nil
    ) {
        self.stopsJump = stopsJump
        self.notifications = notifications
        self.standAt = standAt
        self.runOffsetMilliseconds = runOffsetMilliseconds
        self.advanceMilliseconds = advanceMilliseconds
        self.advancePeriod = advancePeriod
        self.moveTo = moveTo
        self.isStanding = isStanding
        self.rate = rate
        self.timeRate = timeRate
    }
}
