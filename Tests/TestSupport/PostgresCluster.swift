// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A throw-away PostgreSQL for one run of tests, from Debian's packages: a
/// temporary directory, a socket in it, no network. It stops and vanishes
/// when the process that made it ends, however that ends.
public final class PostgresCluster: Sendable {
    /// The run's own, started at first use. Where PostgreSQL is missing this
    /// fails, and with it the tests: `make test` installs it.
    public static func shared() async throws -> PostgresCluster {
        try await starting.value
    }

    private static let starting = Task { try await PostgresCluster() }

    /// What libpq takes, but for the database's name.
    public let conninfo: String
    /// The folder with data, log and socket.
    public let folder: String
    private let keeper: ChildProcess

    /// The socket's own file.
    public var socket: String { folder + "/.s.PGSQL.5432" }

    /// `settings` as `postgresql.conf` has them: `fsync=off`.
    public init(settings: [String] = []) async throws {
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("postgres-cluster").path
        keeper = try ChildProcess([script, "\(getpid())"] + settings)
        guard let line = await keeper.line(with: "socket ") else {
            let outcome = await keeper.outcome()
            throw PlaceError("PostgreSQL did not start: \(outcome.errors.suffix(2000))")
        }
        folder = String(line.dropFirst(7))
        conninfo = "host=\(folder) user=postgres dbname=postgres"
    }

    /// Its keeper stops the server and removes the folder, in its own time.
    deinit {
        let keeper = keeper
        keeper.kill(SIGTERM)
        Task { _ = await keeper.outcome() }
    }

    /// Ends the server, with `SIGQUIT` as a crash would, with `SIGINT` in
    /// order, and has it started again; does not wait until it is.
    public func restart(_ signal: Int32) throws {
        let text = try String(contentsOfFile: folder + "/data/postmaster.pid", encoding: .utf8)
        guard let first = text.split(separator: "\n").first, let process = pid_t(first) else {
            throw PlaceError("no server to restart in \(folder)")
        }
        _ = FileManager.default.createFile(atPath: folder + "/restart", contents: nil)
        kill(process, signal)
    }
}
