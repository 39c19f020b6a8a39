// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// A user of the built programs, with folders of their own and nothing running.
final class Rig: Sendable {
    let folder: TemporaryFolder
    let environment: [String: String]
    private let hasOwnKeys: Bool

    /// The stores of a run share the keys of their sandboxes, because making keys takes most of
    /// the time of a start. Their certificates name the port of another store, so tests in
    /// which certificates are checked with the store, as a ledger does, have keys of their own.
    init(hasOwnKeys: Bool = false) throws {
        self.hasOwnKeys = hasOwnKeys
        folder = try temporaryFolder()
        let home = URL(fileURLWithPath: folder.path)
        var environment = ProcessInfo.processInfo.environment.filter {
            !$0.key.hasPrefix("SHOPKEEPER_")
        }
        environment["HOME"] = home.path
        environment["XDG_RUNTIME_DIR"] = home.appendingPathComponent("run").path
        environment["XDG_DATA_HOME"] = home.appendingPathComponent("share").path
        environment["MONKEY_CREDITS_HOME"] = home.appendingPathComponent("wallet").path
        environment["SHOPKEEPER_SHEET"] = "confirm"
        environment["PATH"] = "\(Self.products.path):\(environment["PATH"] ?? "/usr/bin:/bin")"
        self.environment = environment
        try FileManager.default.createDirectory(
            at: home.appendingPathComponent("run"), withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
    }

    /// Where the programs lie: beside the test bundle.
    static let products = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent()

    /// The Python that has the peers; `make test` sets it up.
    static func python() throws -> String {
        let local = try PackageRoot.path() + "/.venv/bin/python"
        let path = ProcessInfo.processInfo.environment["SHOPKEEPER_PYTHON"] ?? local
        try #require(
            FileManager.default.isExecutableFile(atPath: path),
            "no Python with the test peers at \(path): run `make test`, which installs them")
        return path
    }

    func path(_ name: String) -> String { folder.file(name) }

    func run(
        _ arguments: String..., with variables: [String: String] = [:]
    ) async throws -> ChildProcess.Outcome { try await run(all: arguments, with: variables) }

    func run(
        all arguments: [String], with variables: [String: String] = [:]
    ) async throws -> ChildProcess.Outcome {
        try await ChildProcess.run(
            arguments, environment: environment.merging(variables) { $1 },
            folder: URL(fileURLWithPath: folder.path))
    }

    /// Starts a store on a free port and waits until it listens.
    func serve(_ options: String...) async throws -> ChildProcess {
        if !hasOwnKeys { try placeKeys(try await Self.sharedKeys.value, options) }
        let store = try ChildProcess(
            ["shopkeeper", "serve", "--port", "0"] + options, environment: environment,
            folder: URL(fileURLWithPath: folder.path))
        guard await store.line(with: "Serving") != nil else {
            throw Unexpected(await store.outcome().errors)
        }
        return store
    }

    private static let keysFolder = "keys/sandbox"
    private static let keysFile = "authority.json"

    private static let sharedKeys = Task {
        let rig = try Rig(hasOwnKeys: true)
        let store = try await rig.serve("--in-memory")
        defer { store.kill(SIGTERM) }
        return try Data(
            contentsOf: URL(fileURLWithPath: rig.path(".shopkeeper/\(keysFolder)/\(keysFile)")))
    }

    /// Puts keys into the data directory that the options name, if it has none.
    private func placeKeys(_ keys: Data, _ options: [String]) throws {
        let named = options.drop { $0 != "--data" }.dropFirst().first
        let folder = URL(
            fileURLWithPath: "\(named ?? ".shopkeeper")/\(Self.keysFolder)",
            relativeTo: URL(fileURLWithPath: folder.path, isDirectory: true))
        guard !FileManager.default.fileExists(atPath: folder.path) else { return }
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let file = folder.appendingPathComponent(Self.keysFile).path
        try #require(
            FileManager.default.createFile(
                atPath: file, contents: keys, attributes: [.posixPermissions: 0o600]))
    }

    func object(_ arguments: String...) async throws -> [String: Any] {
        let outcome = try await ChildProcess.run(
            ["shopkeeper"] + arguments + ["--json"], environment: environment,
            folder: URL(fileURLWithPath: folder.path))
        guard outcome.status == 0 else { throw Unexpected(outcome.errors) }
        let value = try JSONSerialization.jsonObject(with: Data(outcome.output.utf8))
        return try #require(value as? [String: Any])
    }

    func list(_ arguments: String...) async throws -> [[String: Any]] {
        let outcome = try await ChildProcess.run(
            ["shopkeeper"] + arguments + ["--json"], environment: environment,
            folder: URL(fileURLWithPath: folder.path))
        guard outcome.status == 0 else { throw Unexpected(outcome.errors) }
        let value = try JSONSerialization.jsonObject(with: Data(outcome.output.utf8))
        return try #require(value as? [[String: Any]])
    }
}

struct Unexpected: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
