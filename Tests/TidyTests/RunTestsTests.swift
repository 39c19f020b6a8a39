// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// `scripts/run-tests`, with a script in place of the tests that prints what
/// Swift Testing prints.
@Suite(.timeLimit(.minutes(5))) struct RunTestsTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try temporaryFolder("run-tests")
        try write(
            "Tests/Suites.swift",
            """
            @Suite(.timeLimit(.minutes(5))) struct CrowdedTests {
            @Suite(
                .serialized, .unforgiven, .timeLimit(.minutes(5)))
            struct KillTests {
            """)
    }

    private func write(_ name: String, _ text: String) throws {
        let url = URL(fileURLWithPath: folder.file(name))
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
    }

    /// Writes a program that says the lines of `first`, and in its later runs of
    /// `later`; a line that begins with `!` is run.
    private func write(_ first: [String], _ later: [String]) throws -> String {
        let say = { (lines: [String]) in
            lines.map { $0.hasPrefix("!") ? String($0.dropFirst()) : "echo '\($0)'" }
                .joined(separator: "\n")
        }
        try write(
            "tests",
            """
            echo "seed of this run $SHOPKEEPER_SEED, asked: $*"
            if [ -e been ]; then
            \(say(later))
            exit
            fi
            touch been
            \(say(first))
            """)
        return "bash \(folder.file("tests"))"
    }

    private var environment: [String: String] {
        var all = ProcessInfo.processInfo.environment
        all["SHOPKEEPER_SEED"] = nil
        all["SHOPKEEPER_TEST_ENGINE"] = nil
        all["SHOPKEEPER_TEST_GRACE"] = "1"
        return all
    }

    /// Runs the script with such a program in place of the tests.
    private func run(
        _ first: [String], _ later: [String] = [], _ environment: [String: String] = [:],
        _ options: String...
    ) async throws -> ChildProcess.Outcome {
        let program = try write(first, later)
        var all = self.environment
        all["SHOPKEEPER_TEST_PROGRAM"] = program
        return try await ChildProcess.run(
            ["python3", try PackageRoot.path() + "/scripts/run-tests"] + options,
            environment: all.merging(environment) { $1 },
            folder: URL(fileURLWithPath: folder.path))
    }

    private func failed(_ suite: String) -> [String] {
        [
            "◇ Test \"a sentence\" started.", "✘ Test \"a sentence\" failed after 1.0 seconds",
            "✘ Suite \(suite) failed after 1.0 seconds with 1 issue.",
            "✘ Test run with 1 test in 1 suite failed after 1 second", "!exit 1",
        ]
    }

    private let passed = [
        "◇ Test \"a sentence\" started.", "✔ Test \"a sentence\" passed after 1.0 seconds.",
        "✔ Suite CrowdedTests passed after 1.0 seconds.",
        "✔ Test run with 1 test in 1 suite passed after 1 second",
    ]

    /// Otherwise a cure that was moved is never switched off again, and nothing says so.
    @Test func `the words of every known mutant still stand in the sources`() async throws {
        let outcome = try await ChildProcess.run(
            ["python3", try PackageRoot.path() + "/scripts/known_mutants.py"],
            environment: environment, folder: URL(fileURLWithPath: folder.path))
        #expect(outcome.status == 0, "\(outcome.output)")
    }

    @Test(arguments: [("sleep 600", 124, true), ("exit 3", 3, false), ("true", 0, false)])
    func `a stage that takes too long is stopped with a sentence`(
        command: String, status: Int32, isStopped: Bool
    ) async throws {
        var environment = ProcessInfo.processInfo.environment
        environment["SHOPKEEPER_STAGE_MINUTES"] = "0.01"
        environment["SHOPKEEPER_TEST_GRACE"] = "1"
        let within = try PackageRoot.path() + "/scripts/within"

        let outcome = try await ChildProcess.run(
            [within, "5", "lint", "bash", "-c", command], environment: environment,
            folder: URL(fileURLWithPath: folder.path))

        #expect(outcome.status == status)
        #expect(outcome.errors.contains("STOPPED: the stage `lint` took longer") == isStopped)
    }

    @Test func `every stage of the whole run has a deadline`() throws {
        let makefile = try String(
            contentsOfFile: try PackageRoot.path() + "/Makefile", encoding: .utf8)
        for stage in ["lint", "build", "test-stranger", "packages", "peers"] {
            let call = try Regex("scripts/within [0-9]+ \(stage) ")
            #expect(makefile.contains(call), "\(stage)")
        }
    }

    @Test func `a second run repeats the seed, and the forgiven suite is counted`() async throws {
        let outcome = try await run(failed("CrowdedTests"), passed)

        let seeds = outcome.output.matches(of: #/seed of this run (\d+)/#).map { $0.output.1 }
        #expect(outcome.status == 0, "\(outcome.output)\(outcome.errors)")
        #expect(seeds.count == 2 && Set(seeds).count == 1)
        #expect(outcome.output.contains("were forgiven: 1\n  CrowdedTests (seed \(seeds[0]), "))
        #expect(try await run([], [], [:], "--tally").output.contains("forgiven: 1\n  Crowded"))
        _ = try await run([], [], [:], "--new-tally")
        #expect(try await run([], [], [:], "--tally").output.contains("forgiven: 0\n"))
    }

    /// Runs each target of a package of two, with budgets.
    private func runEach(_ budgets: String, _ later: [String] = []) async throws -> (
        status: Int32, output: String
    ) {
        try write(
            "Package.swift",
            "        tests(\"OneTests\", []),\n        tests(\n            \"TwoTests\",")
        try write("Tests/budgets.json", budgets)
        let program = try write(passed, later)
        let outcome = try await ChildProcess.run(
            ["python3", try PackageRoot.path() + "/scripts/run-tests", "--each"],
            environment: environment.merging(["SHOPKEEPER_TEST_PROGRAM": program]) { $1 },
            folder: URL(fileURLWithPath: folder.path))
        return (outcome.status, outcome.output + outcome.errors)
    }

    @Test func `each target is run by itself, and its cost is printed`() async throws {
        let (status, output) = try await runEach(
            #"{"sqlite": {"OneTests": 60, "TwoTests": 70}}"#, passed)

        #expect(status == 0, "\(output)")
        #expect(output.contains(#"asked: --filter ^OneTests\."#))
        #expect(output.contains(#"asked: --filter ^TwoTests\."#))
        #expect(output.contains(#/OneTests +1 tests +[0-9.]+ of 60 /#))
        #expect(output.contains(#/TwoTests +1 tests +[0-9.]+ of 70 /#))
        #expect(output.contains("1.0 s  \"a sentence\""))
        #expect(output.contains(#/all +2 tests +[0-9.]+ of 130/#))
    }

    @Test(arguments: [
        (#"{"OneTests": 60, "TwoTests": -20}"#, "TwoTests took "),
        (#"{"OneTests": 60}"#, "TwoTests has no budget for sqlite"),
    ])
    func `a target over its budget, or without one, fails the run`(
        budgets: String, sentence: String
    ) async throws {
        let (status, output) = try await runEach(#"{"sqlite": \#(budgets)}"#, passed)

        #expect(status == 1)
        #expect(output.contains("OVER ITS BUDGET: \(sentence)"), "\(output)")
        #expect(!output.contains("OVER ITS BUDGET: OneTests"))
    }

    @Test(arguments: [
        (70, 69.0, "", false), (70, 71, "over its budget of 70", false), (70, 106, "", true),
        (10, 19, "over its budget of 10", false), (10, 21, "", true),
    ])
    func `a target is named over its budget, and fails far over it`(
        budget: Int, seconds: Double, said: String, fails: Bool
    ) async throws {
        try write("Tests/budgets.json", #"{"sqlite": {"OneTests": \#(budget)}}"#)
        let report = """
            import sys; sys.path.insert(0, sys.argv[1]); import test_budgets
            cost = test_budgets.Cost("OneTests"); cost.cpu = float(sys.argv[2])
            sys.exit(len(test_budgets.report([cost], "sqlite")))
            """

        let outcome = try await ChildProcess.run(
            ["python3", "-c", report, try PackageRoot.path() + "/scripts", "\(seconds)"],
            environment: environment, folder: URL(fileURLWithPath: folder.path))

        #expect(outcome.status == (fails ? 1 : 0), "\(outcome.output)\(outcome.errors)")
        #expect(outcome.output.contains("over its budget") == !said.isEmpty)
        #expect(outcome.output.contains(said) || said.isEmpty)
    }

    @Test func `a target that fails fails the run, and the next is run`() async throws {
        let (status, output) = try await runEach(
            #"{"sqlite": {"OneTests": 60, "TwoTests": 70}}"#, failed("KillTests"))

        #expect(status == 1)
        #expect(output.contains("never forgiven: KillTests"), "\(output)")
        #expect(output.contains("TwoTests:"))
    }

    @Test func `each test target has a budget`() throws {
        let root = try PackageRoot.path()
        let manifest = try String(contentsOfFile: root + "/Package.swift", encoding: .utf8)
        let targets = manifest.matches(of: #/\n {8}tests\(\s*"(\w+)"/#).map { String($0.output.1) }
        let budgets = try JSONDecoder().decode(
            [String: [String: Double]].self,
            from: Data(contentsOf: URL(fileURLWithPath: root + "/Tests/budgets.json")))

        #expect(targets.count > 15)
        #expect(budgets["sqlite"].map { Set($0.keys) } == Set(targets))
        let both: Set = ["ShopTests", "LedgerTests", "ScenarioTests"]
        #expect(budgets["postgres"].map { Set($0.keys) } == both)
    }

    @Test func `a seed that is given is the seed of the run`() async throws {
        let outcome = try await run(passed, [], ["SHOPKEEPER_SEED": "77"])

        #expect(outcome.status == 0)
        #expect(outcome.output.contains("seed of this run 77,"))
    }

    @Test(arguments: ["KillTests", "SuiteThatNoSourceHas"])
    func `a suite that is never forgiven fails the run at once`(suite: String) async throws {
        let outcome = try await run(failed(suite), passed)

        #expect(outcome.status == 1)
        #expect(outcome.output.contains("never forgiven: \(suite). The seed was "))
        #expect(!outcome.output.contains("Once more"))
    }

    @Test func `a second run that fails, or runs another test, forgives nothing`() async throws {
        let other = passed.map { $0.replacing("a sentence", with: "another one") }
        for later in [failed("CrowdedTests"), other] {
            let outcome = try await run(failed("CrowdedTests"), later)

            #expect(outcome.status == 1)
            #expect(outcome.output.contains("Failed twice."))
            try FileManager.default.removeItem(atPath: folder.file("been"))
        }
    }

    /// The hanging test's processes leave their parent and its session.
    private let hanging = [
        "◇ Test \"one that ends\" started.", "◇ Test \"one that hangs\" started.",
        "✔ Test \"one that ends\" passed after 1.0 seconds.",
        "!setsid bash -c 'trap \"\" TERM; echo $$ >left; exec sleep 600' &",
        "!until [ -s left ]; do :; done", "!wait",
    ]

    private func isAlive(_ file: String) throws -> Bool {
        let text = try String(contentsOfFile: folder.file(file), encoding: .utf8)
        let pid = try #require(pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines)))
        return kill(pid, 0) == 0
    }

    @Test(arguments: [
        ("SHOPKEEPER_TEST_MINUTES", "the run took longer than 0.02 minutes"),
        ("SHOPKEEPER_TEST_SILENCE", "no test began or ended for 0.02 minutes"),
    ])
    func `a run that hangs is stopped, names its tests and leaves nothing running`(
        limit: String, reason: String
    ) async throws {
        let outcome = try await run(hanging, [], [limit: "0.02"])

        #expect(outcome.status == 124)
        #expect(outcome.output.contains("STOPPED: \(reason)"))
        #expect(outcome.output.contains("did not end: 1\n  \"one that hangs\"\n"))
        #expect(try !isAlive("left"))
    }

    @Test func `a test that takes all memory is stopped, and the size is named`() async throws {
        let eater = "!python3 -c 'x = bytearray(80 << 20); import time; time.sleep(600)'"
        let outcome = try await run(
            ["◇ Test \"one that eats\" started.", eater], [], ["SHOPKEEPER_TEST_MEMORY": "64"])

        #expect(outcome.status == 124)
        #expect(outcome.output.contains(#/STOPPED: the process \d+ \(python3.*\) held \d+ MiB/#))
        #expect(outcome.output.contains("did not end: 1\n  \"one that eats\"\n"))
    }

    @Test func `what tests leave running after a run is named and ended`() async throws {
        let outcome = try await run(
            ["!setsid sleep 600 & echo $! >left", "!exec >/dev/null 2>&1"] + passed)

        #expect(outcome.status == 0)
        #expect(outcome.output.contains("LEFT RUNNING BY THE TESTS, and ended now: sleep ("))
        #expect(try !isAlive("left"))
    }
}
