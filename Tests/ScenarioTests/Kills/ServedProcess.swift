// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import TestSupport

/// `shopkeeper serve` as a process, on a data directory of a test's own.
final class ServedProcess: Sendable {
    struct Failed: Error {
        let output: String
    }

    private struct Announcement: Decodable {
        let url: String
    }

    private let child: ChildProcess

    private init(_ child: ChildProcess) {
        self.child = child
    }

    /// Starts it, and returns when it listens.
    static func start(
        data: String, port: Int, database: String? = nil
    ) async throws -> (ServedProcess, url: URL) {
        let runtime = data + "/run"
        try FileManager.default.createDirectory(
            atPath: runtime, withIntermediateDirectories: true)
        let child = try ChildProcess(
            [
                try executable(), "serve", "--data", data, "--port", "\(port)", "--json",
                "--log-level", "error",
            ] + (database.map { ["--database", $0] } ?? []),
            environment: ProcessInfo.processInfo.environment.merging(
                ["XDG_RUNTIME_DIR": runtime], uniquingKeysWith: { $1 }))
        let output = Mutex("")
        _ = await first(of: child.lines, "the announcement of a store that listens") { line in
            output.withLock { output in
                output += line + "\n"
                return announced(output) != nil
            }
        }
        guard let url = announced(output.withLock { $0 }) else {
            throw Failed(output: await child.outcome().errors)
        }
        return (ServedProcess(child), url)
    }

    /// Ends it as a power failure would.
    func kill9() { child.kill(SIGKILL) }

    /// Returns when it is gone.
    func ended() async { _ = await child.outcome() }

    private static func announced(_ output: String) -> URL? {
        let announcement = try? JSONDecoder().decode(Announcement.self, from: Data(output.utf8))
        return announcement.flatMap { URL(string: $0.url) }
    }

    /// The command, built beside the tests.
    private static func executable() throws -> String {
        let tests = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        let command = tests.deletingLastPathComponent().appendingPathComponent("shopkeeper").path
        guard FileManager.default.isExecutableFile(atPath: command) else {
            throw PlaceError("no shopkeeper beside \(tests.path)")
        }
        return command
    }
}
