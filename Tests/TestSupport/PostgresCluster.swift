// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A temporary PostgreSQL server for one test run, from Debian's packages: a
/// temporary directory with a socket, without a network. It stops and is
/// removed when the process that made it ends, however that ends.
public final class PostgresCluster: Sendable {
    /// The server of this run, started at first use. Fails if PostgreSQL is
    /// missing, and the tests with it. `make test` installs it.
    public static func shared() async throws -> PostgresCluster {
        try await starting.value
    }

    private static let starting = Task { try await PostgresCluster() }

    /// The connection string for libpq, without the database's name.
    public let conninfo: String
    /// The folder with data, log and socket.
    public let folder: String
    private let keeper: ChildProcess

    /// The socket's own file.
    public var socket: String { folder + "/.s.PGSQL.5432" }

    /// `settings`: in the format of `postgresql.conf`, for example `fsync=off`.
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

    /// The keeper process stops the server and removes the folder later.
    deinit {
        let keeper = keeper
        keeper.kill(SIGTERM)
        Task { _ = await keeper.outcome() }
    }

    /// Ends the server, with `SIGQUIT` like a crash or with `SIGINT` in order,
    /// and has it started again. Does not wait until it runs.
    public func restart(_ signal: Int32) throws {
        let text = try String(contentsOfFile: folder + "/data/postmaster.pid", encoding: .utf8)
        guard let first = text.split(separator: "\n").first, let process = pid_t(first) else {
            throw PlaceError("no server to restart in \(folder)")
        }
        _ = FileManager.default.createFile(atPath: folder + "/restart", contents: nil)
        kill(process, signal)
    }
}
