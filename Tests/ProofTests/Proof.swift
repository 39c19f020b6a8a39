// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// The programs of the proof, which are Python so that they share nothing
/// with the store.
enum Proof {
    /// What a round says on its last line.
    struct Report: Decodable {
        let seed: Int
        let counts: [String: Int]
        /// Sentences by rule, by the seed of the round.
        let breaches: [String: [String: [String]]]

        /// The rules that were broken.
        var broken: Set<String> { Set(breaches.values.flatMap(\.keys)) }
    }

    /// The Python that `make test` sets up; nothing beyond its own library is used.
    static func python() throws -> String {
        let local = try PackageRoot.path() + "/.venv/bin/python"
        let path = ProcessInfo.processInfo.environment["SHOPKEEPER_PYTHON"] ?? local
        try #require(
            FileManager.default.isExecutableFile(atPath: path),
            "no Python at \(path): run `make test`, which installs it")
        return path
    }

    /// A program built beside the tests.
    static func program(_ name: String) throws -> String {
        let tests = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        let path = tests.deletingLastPathComponent().appendingPathComponent(name).path
        try #require(FileManager.default.isExecutableFile(atPath: path), "no \(name) at \(path)")
        return path
    }

    static func run(_ arguments: String...) async throws -> ChildProcess.Outcome {
        try await run(arguments)
    }

    static func run(_ arguments: [String]) async throws -> ChildProcess.Outcome {
        var environment = ProcessInfo.processInfo.environment
        environment["PYTHONPATH"] = try PackageRoot.path() + "/Tests/Proof"
        environment["PYTHONDONTWRITEBYTECODE"] = "1"
        return try await ChildProcess.run(
            [try python()] + arguments, environment: environment,
            folder: URL(fileURLWithPath: try PackageRoot.path() + "/Tests/Proof"),
            // A suite's limit ends it before, with the same sentence.
            within: .seconds(20 * 60))
    }

    /// Plays a round and says what it found. What it did goes to the log.
    static func round(_ arguments: String...) async throws -> Report {
        try await round(arguments)
    }

    static func round(_ arguments: [String]) async throws -> Report {
        let outcome = try await run(["-m", "proof", "--json"] + arguments)
        print(outcome.errors)
        let last = outcome.output.split(separator: "\n").last ?? ""
        return try JSONDecoder().decode(Report.self, from: Data(last.utf8))
    }
}
