// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Commerce
import StoreWire

/// Shows and moves a sandbox's commercial time.
struct ClockCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clock", abstract: "Show or move a sandbox's clock.",
        discussion: """
            The clock dates sales, signatures and due work. Tokens and time-outs use the \
            machine's clock. Without an option the time is printed. A catalogue file's time rate \
            becomes the clock's rate when the file is imported.
            """)

    @Option(
        name: .long, help: "Run this many times as fast as the machine's clock; 1 is real time.")
    var rate: Int64?
    @Option(name: .long, help: "Stand at an instant: 2026-01-31T12:00:00Z.")
    var standAt: String?
    @Option(name: .long, help: "Jump this many seconds forward; work that falls due is done first.")
    var advance: Int64?
    @Option(
        name: .long, parsing: .unconditional,
        help: """
            Run, from this many seconds ahead of the machine's clock on, at the clock's rate; 0 \
            follows the machine's clock at rate 1.
            """)
    var runAhead: Int64?
    @OptionGroup var store: StoreOptions
    @OptionGroup var printing: PrintOptions

    func run() async throws {
        let request = MoveClockRequest(
            standAt: try standAt.map(Self.instant),
            runOffsetMilliseconds: try runAhead.map { try Self.milliseconds($0, "--run-ahead") },
            advanceMilliseconds: try advance.map { try Self.milliseconds($0, "--advance") },
            rate: rate)
        let door = try store.store().controlDoor
        let clock =
            request == MoveClockRequest()
            ? try await door.get("/clock", as: ClockDescription.self)
            : try await door.post("/clock", request, as: ClockDescription.self)
        try printing.show(clock, clock.words)
    }

    private static func instant(_ text: String) throws -> Timestamp {
        guard let instant = Timestamp(iso8601: text) else {
            throw Failure(
                .usage, "instantInvalid", "\(text) is not an instant.", field: "--stand-at",
                rule: "ISO 8601 with an offset", remedy: "write 2026-01-31T12:00:00Z")
        }
        return instant
    }

    /// Converts seconds to milliseconds. A value that overflows is rejected. It
    /// would be beyond the range of every clock anyway.
    private static func milliseconds(_ seconds: Int64, _ option: String) throws -> Int64 {
        let (product, overflows) = seconds.multipliedReportingOverflow(by: 1000)
        guard !overflows else {
            throw Failure(
                .usage, "secondsInvalid", "\(seconds) seconds are too many.", field: option,
                rule: "within the years that a clock may visit", remedy: "write fewer")
        }
        return product
    }
}

extension ClockDescription {
    var words: String {
        let speed = rate.map { ", \($0) times as fast as the machine's" } ?? ""
        let way =
            isStanding
            ? "\(now), standing\(speed.isEmpty ? "" : " (else\(speed.dropFirst()))")"
            : "\(now), running\(speed)"
        let left = jump.map { "; what fell due after \($0.reached) is still being done" }
        let away = clustersAway.map {
            "; these clusters do not answer or do not have this time yet: "
                + $0.joined(separator: " ")
        }
        return way + (left ?? "") + (away ?? "")
    }
}

/// Shows the behaviour of a sandbox for an app.
struct SettingsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "settings",
        abstract: "Show how a sandbox behaves: the settings of an app's catalogue file.",
        discussion: """
            Import a file with other settings to change them. `catalogue export` writes them \
            into the file.
            """)

    @OptionGroup var app: AppOptions
    @OptionGroup var printing: PrintOptions

    func run() async throws {
        let (store, bundleID) = try app.found()
        let settings = try await store.controlDoor.get(
            "/apps/\(ProductRecord.escaped(bundleID))/settings", as: AppSettings.self)
        try printing.show(settings, lines: settings.lines)
    }
}

extension AppSettings {
    /// The rate in words. The file's number is in the JSON.
    private var rateWords: String {
        TimeRate(rawValue: Int(timeRate))?.words ?? "\(speed) times as fast"
    }

    var lines: [String] {
        let switches = [
            ("time rate", rateWords), ("Ask to Buy", asksToBuy.word),
            ("interrupted purchases", interruptsPurchases.word),
            ("billing retry", failsRenewals.word), ("grace period", hasGracePeriod.word),
            ("dialogs", (!disablesDialogs).word),
        ]
        let failing = errors.map { ("fails", "\($0.call): \($0.error)") }
        let table = Output.table((switches + failing).map { [$0.0, $0.1] })
        return table + unobeyed.map { "not obeyed: \($0)" }
    }
}

extension Bool {
    fileprivate var word: String { self ? "on" : "off" }
}
