// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Commerce
import Foundation
import Live
import StoreWire

/// Shows and moves a sandbox's commercial time.
struct ClockCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clock", abstract: "Show or move a sandbox's clock.",
        discussion: """
            The clock dates sales, signatures and due work. Tokens and time-outs use the \
            machine's clock. With `--customer` the verbs are about the clock that this customer \
            shares with others: see `clock attach`. A move returns when everything that fell due on the way is done; \
            Ctrl-C and `clock stop` end it between two pieces of work. A catalogue file's time \
            rate becomes the clock's rate when the file is imported.
            """,
        subcommands: [
            Show.self, Advance.self, To.self, Rate.self, Freeze.self, Run.self, Stop.self,
            Attach.self, Detach.self, List.self,
        ],
        defaultSubcommand: Show.self)

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show", abstract: "Print the time.")
        @OptionGroup var clock: ClockOptions

        func run() async throws {
            try clock.show(
                try await clock.door().get(clock.path, as: ClockDescription.self))
        }
    }

    struct Advance: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "advance", abstract: "Jump forward.")
        @Argument(help: "How far: 1mo, P1M, 2w, 3d, 6h, 90s.")
        var step: String
        @OptionGroup var jump: JumpOptions
        @OptionGroup var clock: ClockOptions

        func run() async throws {
            switch try ClockOptions.step(step) {
            case .period(let period):
                try await clock.jump(MoveClockRequest(advancePeriod: period.description), jump)
            case .seconds(let seconds):
                try await clock.jump(
                    MoveClockRequest(advanceMilliseconds: seconds * 1000), jump)
            }
        }
    }

    struct To: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "to",
            abstract: "Move to an instant, also an earlier one; then run or stand as before.")
        @Argument(
            help: """
                2026-01-31T12:00:00Z, milliseconds since 1970, or a step from the machine's time: \
                now, now-13mo.
                """)
        var instant: String
        @OptionGroup var jump: JumpOptions
        @OptionGroup var clock: ClockOptions

        func run() async throws {
            try await clock.jump(
                MoveClockRequest(moveTo: try ClockOptions.instant(instant, "INSTANT")), jump)
        }
    }

    struct Rate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "rate",
            abstract: "Run faster than the machine's clock, or shorten periods as Apple does.",
            discussion: """
                A number is how many times as fast as the machine's clock; 1 is real time. A name \
                is one of Apple's rates, such as monthlyRenewalEveryFiveMinutes: the clock runs \
                with the machine's, and weeks, months and years of subscriptions, grace periods \
                and repeated charges are as short as in Apple's tables. A number puts them back \
                to the calendar.
                """)
        @Argument(
            help: "From 1 to 1296000, which is a month in two seconds; or the name of a rate.")
        var rate: String
        @OptionGroup var clock: ClockOptions

        func run() async throws {
            try await clock.move(
                Int64(rate).map { MoveClockRequest(rate: $0) }
                    ?? MoveClockRequest(timeRate: rate))
        }
    }

    struct Freeze: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "freeze", abstract: "Stand still, until `clock run`.")
        @Option(help: "Stand at this instant instead of the present, written as for `clock to`.")
        var at: String?
        @OptionGroup var jump: JumpOptions
        @OptionGroup var clock: ClockOptions

        func run() async throws {
            let instant = try at.map { try ClockOptions.instant($0, "--at") }
            try await clock.jump(
                instant.map { MoveClockRequest(standAt: $0) }
                    ?? MoveClockRequest(isStanding: true), jump)
        }
    }

    struct Run: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "run", abstract: "Run on from the present instant, at the clock's rate.")
        @Flag(help: "Follow the machine's clock again, at rate 1.")
        var real = false
        @OptionGroup var clock: ClockOptions

        func run() async throws {
            try await clock.move(
                real
                    ? MoveClockRequest(runOffsetMilliseconds: 0)
                    : MoveClockRequest(isStanding: false))
        }
    }

    struct Stop: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "stop",
            abstract: "End the jump that is under way; the clock goes back to where it came.")
        @OptionGroup var clock: ClockOptions

        func run() async throws { try await clock.move(MoveClockRequest(stopsJump: true)) }
    }
}

/// The option of every verb that jumps.
struct JumpOptions: ParsableArguments {
    @Option(
        help: """
            What happens to the notifications that the jump causes: await (the command returns \
            when they are sent), queue (they are sent afterwards) or drop. Default: that of the \
            store, which is queue, and await under `exec`.
            """, transform: JumpOptions.choice)
    var notifications: JumpNotifications?

    private static func choice(_ text: String) throws -> JumpNotifications {
        guard let choice = JumpNotifications(rawValue: text) else {
            throw ValidationError("write await, queue or drop.")
        }
        return choice
    }
}

/// The options of every verb of the clock, and how it asks the store.
struct ClockOptions: ParsableArguments {
    @Option(
        name: .long,
        help: "Of this customer, by number or sign-in name, instead of the sandbox's.")
    var customer: String?
    @OptionGroup var store: StoreOptions
    @OptionGroup var printing: PrintOptions

    /// The clock's address at the control door.
    var path: String { customer.map(Self.path) ?? "/clock" }

    static func path(_ customer: String) -> String {
        "/customers/\(customer.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")"
            + "/clock"
    }

    func door() throws -> DoorClient { try store.store().controlDoor }

    /// No jump takes as long.
    static let jumpMilliseconds = 24 * 3_600_000

    func move(_ request: MoveClockRequest) async throws {
        var door = try door()
        door.timeoutMilliseconds = Self.jumpMilliseconds
        try show(try await door.post(path, request, as: ClockDescription.self))
    }

    /// Moves the clock, reports how far the work has come, and stops it at Ctrl-C.
    func jump(_ request: MoveClockRequest, _ options: JumpOptions) async throws {
        var (request, door) = (request, try door())
        request.notifications = options.notifications?.rawValue
        door.timeoutMilliseconds = Self.jumpMilliseconds
        let jump = WatchedJump(door: door, path: path)
        let (clock, isStopped) = try await jump.run(request)
        try show(clock)
        if isStopped { throw ExitCode(128 + SIGINT) }
    }

    func show(_ clock: ClockDescription) throws { try printing.show(clock, clock.words) }

    static func step(_ text: String) throws -> TimeStep {
        guard let step = TimeStep(text) else {
            throw Failure(
                .usage, "stepInvalid", "\(text) is not a step of time.", field: "STEP",
                rule: TimeStep.rule, remedy: "write one such as 1mo")
        }
        return step
    }

    static func instant(
        _ text: String, _ field: String, now: Timestamp = Live.wallClock.now
    ) throws -> Timestamp {
        guard let instant = Timestamp(text: text, now: now) else {
            throw Failure(
                .usage, "instantInvalid", "\(text) is not an instant.", field: field,
                rule: Timestamp.rule, remedy: "write 2026-01-31T12:00:00Z")
        }
        return instant
    }
}

extension ClockDescription {
    /// What became of the notifications of a jump.
    private var sent: String? {
        guard let notifications, notifications != SentInJump(delivered: 0, failed: 0, unsent: 0)
        else { return nil }
        let parts = [
            (notifications.delivered, "delivered"), (notifications.failed, "failed"),
            (notifications.unsent, "not tried, because their server had failed three times"),
        ]
        let words = parts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        return "; notifications: " + words.joined(separator: ", ")
    }

    var words: String {
        let speed =
            (rate.map { ", \($0) times as fast as the machine's" } ?? "")
            + (timeRate.flatMap(Tempo.init).map { ", \($0.words)" } ?? "")
        let way =
            isStanding
            ? "\(now), standing\(speed.isEmpty ? "" : " (else\(speed.dropFirst()))")"
            : "\(now), running\(speed)"
        let left = jump.map { "; what fell due after \($0.reached) is still being done" }
        let whose = clockId.map { id in
            "clock \(id) of "
                + ((customerIds ?? []).isEmpty
                    ? "nobody" : "customers " + (customerIds ?? []).joined(separator: " ")) + ": "
        }
        let away = clustersAway.map {
            "; these clusters do not answer or do not have this time yet: "
                + $0.joined(separator: " ")
        }
        return (whose ?? "") + way + (left ?? "") + (sent ?? "") + (away ?? "")
    }
}
