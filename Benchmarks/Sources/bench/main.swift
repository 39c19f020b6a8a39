// SPDX-License-Identifier: Apache-2.0

import Foundation

/// `bench [--brief] [--python PATH --script PATH] [--on sqlite|postgres]
/// [--subscribers N] [SUBJECT…]`; `bench client …`, `bench serve …`, `bench serve-ledger …`,
/// `bench bare …`, `bench hold`, `bench plain …`, `bench read …`, `bench serve-as-is …` and `bench
/// fetch …` are the processes of a load, of a store, of a bare handler, of bare servers, of a
/// catalogue file, of a store that was prepared, and of a device.
raiseFileLimit()
do { exit(try await Bench.main(Array(CommandLine.arguments.dropFirst()))) } catch let failure
    as ClientFailure
{
    FileHandle.standardError.write(Data("\(failure)\n".utf8))
    exit(64)
}

/// As many open files as the system allows, for thousands of connections.
/// Child processes inherit it.
func raiseFileLimit() {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
    limit.rlim_cur = limit.rlim_max
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
}

/// What was asked for on the command line.
struct Bench {
    /// What a subject measured: ratios, and figures without one.
    typealias Outcome = (figures: [Pairs], notes: [String])
    private typealias Measurement = @Sendable (Bench) async throws -> Outcome

    /// Every subject, in the order in which all of them are measured.
    private static let subjects: [(name: String, run: Measurement)] = [
        ("signatures", { (try $0.signatures(), []) }),
        ("purchases", { _ in (try await PurchaseBench().run(), []) }),
        ("receipts", { _ in try ReceiptBench().run() }),
        ("history", { _ in (try await HistoryBench().run(), []) }),
        ("idle", { _ in ([], try await IdleBench().run()) }),
        ("footprint", { _ in try await both { ([], try await FootprintBench(engine: $0).run()) } }),
        ("latency", { _ in try await both { ([], try await LatencyBench(engine: $0).run()) } }),
        ("notifications", { _ in ([], try await NotificationBench().run()) }),
        ("takeover", { _ in ([], try await TakeoverBench().run()) }),
        ("groups", { _ in try await GroupBench().run() }),
        ("postgres", { _ in try await PostgresBench().run() }),
        ("catalogue", { _ in try await CatalogueBench().run() }),
        ("verification", { try VerificationBench(python: $0.python).run() }),
        ("jumps", { _ in try await both { try await JumpBench(engine: $0).run() } }),
        ("events", { _ in (try await EventsBench().run(), []) }),
        ("server-api", { _ in try await ServerAPIBench().run() }),
        ("queue", { _ in ([], try await QueueBench().run()) }),
        ("downloads", { _ in try await DownloadBench().run() }),
        ("pages", { _ in (try await PageBench().run(), []) }),
        ("redemptions", { _ in try await both { try await RedemptionBench(engine: $0).run() } }),
        ("ledger", { _ in try await both { try await LedgerBench(engine: $0).run() } }),
        ("roads", { _ in try await LedgerRoadBench().run() }),
    ]

    /// Subjects of an hour or so, which are measured if they are named.
    private static let longSubjects: [(name: String, run: Measurement)] = [
        (
            "jumps-long",
            { _ in try await both { try await JumpBench(engine: $0, sizes: [(100_000, 1)]).run() } }
        ),
        (
            "ledger-year",
            { bench in try await LedgerYearBench(subscribers: bench.subscribers).run() }
        ),
    ]

    /// The figures of both engines, or of the one that was named.
    private static func both(
        _ measure: (BenchEngine) async throws -> Outcome
    ) async throws -> Outcome {
        let only = CommandLine.arguments.drop { $0 != "--on" }.dropFirst().first
        var all: Outcome = ([], [])
        for name in ["sqlite", "postgres"] where only == nil || only == name {
            let one = try await measure(name == "sqlite" ? .files : try .postgres())
            all = (all.figures + one.figures, all.notes + one.notes)
        }
        return all
    }

    /// The exit code: 0 when every figure that was asked for is met.
    static func main(_ arguments: [String]) async throws -> Int32 {
        if arguments.first == "client" {
            try LoadProcess(arguments: Array(arguments.dropFirst())).start()
            return 0
        }
        if arguments.first == "serve", [2, 3].contains(arguments.count) {
            try await BenchStore.serve(arguments[1], arguments.count > 2 ? arguments[2] : nil)
            return 0
        }
        if arguments.first == "bare", [2, 3].contains(arguments.count) {
            try await BenchWorld.serveBare(
                arguments[1], arguments.count > 2 ? arguments[2] : nil)
            return 0
        }
        if arguments.first == "hold" {
            try await HoldingServer.serve()
            return 0
        }
        if arguments.first == "plain", arguments.count == 2, let count = Int(arguments[1]) {
            try await PlainServer.serve(bytes: count)
            return 0
        }
        if arguments.first == "serve-as-is", arguments.count == 2 {
            try await BenchStore.serveAsIs(arguments[1])
            return 0
        }
        if arguments.first == "serve-ledger", [2, 3].contains(arguments.count) {
            try await BenchLedger.serve(arguments[1], arguments.count > 2 ? arguments[2] : nil)
            return 0
        }
        if arguments.first == "fetch", arguments.count == 6 {
            try await FetchingProcess.fetch(Array(arguments.dropFirst()))
            return 0
        }
        if arguments.first == "read", arguments.count == 2 {
            try ReadingProcess.read(arguments[1])
            return 0
        }
        return try await Bench(arguments: arguments).run() ? 0 : 1
    }

    private var python = ""
    private var script = ""
    private var chosen: [String] = []
    /// Of the ledger's long year.
    private var subscribers = Brief.or(100_000, brief: 40)
    private static var all: [(name: String, run: Measurement)] { subjects + longSubjects }

    init(arguments: [String]) throws {
        var rest = arguments[...]
        while let word = rest.popFirst() {
            switch word {
            case "--python": python = rest.popFirst() ?? ""
            case "--script": script = rest.popFirst() ?? ""
            case "--brief": break
            case "--on" where ["sqlite", "postgres"].contains(rest.first): rest.removeFirst()
            case "--subscribers":
                guard let count = rest.popFirst().flatMap({ Int($0) }), count > 0 else {
                    throw ClientFailure("--subscribers N: a number from 1 on")
                }
                subscribers = count
            case _ where Self.all.contains { $0.name == word }: chosen.append(word)
            default:
                let subjects = Self.all.map(\.name).joined(separator: "|")
                throw ClientFailure("bench [\(subjects)]…: what is \(word)?")
            }
        }
    }

    /// Measures each subject and prints its figures when it is done. Returns whether every
    /// figure that was asked for is met.
    func run() async throws -> Bool {
        var isMet = true
        let wanted = chosen.isEmpty ? Self.subjects : Self.all.filter { chosen.contains($0.name) }
        for subject in wanted {
            let outcome = try await subject.run(self)
            print(subject.name)
            for note in outcome.notes { print("  " + note) }
            if !outcome.figures.isEmpty {
                print(
                    "  ratio (median of interleaved pairs; a spread over \(Pairs.spreadMax) "
                        + "counts as not met)")
            }
            for figure in outcome.figures { print(figure.line) }
            fflush(nil)
            isMet = isMet && outcome.figures.allSatisfy(\.isMet)
        }
        return isMet
    }

    private func signatures() throws -> [Pairs] {
        let bench = try SignatureBench()
        let figures = try bench.run()
        guard !python.isEmpty, let beside = try bench.beside(python: python, script: script) else {
            progress("no Python with the peers was named: its library is left out")
            return figures
        }
        return figures + [beside]
    }
}
