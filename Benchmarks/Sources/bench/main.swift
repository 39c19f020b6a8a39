// SPDX-License-Identifier: Apache-2.0

import Foundation

/// `bench [--brief] [--python PATH --script PATH] [SUBJECT…]`; `bench client …`, `bench serve …`,
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
    /// Every subject, in the order in which all of them are measured.
    private static let subjects = [
        "signatures", "purchases", "receipts", "history", "footprint", "latency",
        "notifications", "takeover", "groups", "postgres", "catalogue", "verification",
        "jumps", "events", "server-api", "queue", "downloads", "pages",
    ]

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
        if arguments.first == "fetch", arguments.count == 6 {
            try await FetchingProcess.fetch(Array(arguments.dropFirst()))
            return 0
        }
        if arguments.first == "read", arguments.count == 2 {
            try ReadingProcess.read(arguments[1])
            return 0
        }
        let outcome = try await Bench(arguments: arguments).run()
        for note in outcome.notes { print("  " + note) }
        if !outcome.figures.isEmpty {
            print(
                "  ratio (median of interleaved pairs; a spread over \(Pairs.spreadMax) counts "
                    + "as not met)")
        }
        for figure in outcome.figures { print(figure.line) }
        return outcome.figures.allSatisfy(\.isMet) ? 0 : 1
    }

    private var python = ""
    private var script = ""
    private var chosen: [String] = []

    init(arguments: [String]) throws {
        var rest = arguments[...]
        while let word = rest.popFirst() {
            switch word {
            case "--python": python = rest.popFirst() ?? ""
            case "--script": script = rest.popFirst() ?? ""
            case "--brief": break
            case _ where Self.subjects.contains(word): chosen.append(word)
            default:
                let subjects = Self.subjects.joined(separator: "|")
                throw ClientFailure("bench [\(subjects)]…: what is \(word)?")
            }
        }
    }

    func run() async throws -> (figures: [Pairs], notes: [String]) {
        var figures: [Pairs] = []
        var notes: [String] = []
        for subject in chosen.isEmpty ? Self.subjects : chosen {
            switch subject {
            case "signatures": figures += try signatures()
            case "purchases": figures += try await PurchaseBench().run()
            case "receipts":
                let receipts = try ReceiptBench().run()
                figures += receipts.figures
                notes += receipts.notes
            case "groups":
                let groups = try await GroupBench().run()
                figures += groups.figures
                notes += groups.notes
            case "postgres":
                let postgres = try await PostgresBench().run()
                figures += postgres.figures
                notes += postgres.notes
            case "catalogue":
                let catalogue = try await CatalogueBench().run()
                figures += catalogue.figures
                notes += catalogue.notes
            case "verification":
                let verification = try VerificationBench(python: python).run()
                figures += verification.figures
                notes += verification.notes
            case "jumps":
                for engine in [BenchEngine.files, try .postgres()] {
                    let jumps = try await JumpBench(engine: engine).run()
                    figures += jumps.figures
                    notes += jumps.notes
                }
            case "server-api":
                let asked = try await ServerAPIBench().run()
                figures += asked.figures
                notes += asked.notes
            case "downloads":
                let downloads = try await DownloadBench().run()
                figures += downloads.figures
                notes += downloads.notes
            case "pages": figures += try await PageBench().run()
            case "events": figures += try await EventsBench().run()
            case "history": figures += try await HistoryBench().run()
            case "footprint":
                notes += try await FootprintBench(engine: .files).run()
                notes += try await FootprintBench(engine: .postgres()).run()
            case "queue": notes += try await QueueBench().run()
            case "notifications": notes += try await NotificationBench().run()
            case "takeover": notes += try await TakeoverBench().run()
            default:
                notes += try await LatencyBench(engine: .files).run()
                notes += try await LatencyBench(engine: .postgres()).run()
            }
        }
        return (figures, notes)
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
