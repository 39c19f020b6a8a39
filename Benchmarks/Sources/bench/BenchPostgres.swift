// SPDX-License-Identifier: Apache-2.0

import Foundation
import Shop
import StoragePostgres

/// A PostgreSQL of this run's own, on a socket in a temporary directory; it
/// ends with this process.
final class BenchPostgres {
    let socket: String
    private let keeper: Process

    var conninfo: String { "host=\(socket) user=postgres dbname=postgres" }

    init() throws {
        // Benchmarks/Sources/bench/ stands in the package that has the script.
        let script = (0..<4).reduce(URL(fileURLWithPath: #filePath)) { url, _ in
            url.deletingLastPathComponent()
        }.appendingPathComponent("Tests/TestSupport/postgres-cluster")
        keeper = Process()
        keeper.executableURL = script
        keeper.arguments = ["\(getpid())"]
        let output = Pipe()
        keeper.standardOutput = output
        try keeper.run()
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        guard line.hasPrefix("socket ") else { throw ClientFailure("no PostgreSQL: \(line)") }
        socket = line.dropFirst(7).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    deinit { keeper.terminate() }

    /// Where a store keeps its databases in it.
    static func places(_ conninfo: String) -> StoragePlaces {
        let database = PostgresDatabase(conninfo)
        return StoragePlaces(
            registry: { try await database.schema("shopkeeper", migrations: $0) },
            realm: {
                try await FinishingPlaces.prepared(
                    try await database.schema("realm_" + $0, migrations: $1), onPostgres: true)
            },
            deleteRealm: { _ in }, leasesInDatabaseTime: true,
            proveDurable: { try await database.proveDurable() })
    }

    /// What psql answers to one question.
    func ask(_ question: String) throws -> String {
        try Self.run("psql", ["-h", socket, "-U", "postgres", "-Atc", question], [:])
    }

    /// Transactions a second of a pgbench script.
    func pgbench(
        _ script: URL, clients: Int, transactions: Int, schema: String
    ) throws -> Double {
        let output = try Self.run(
            "pgbench",
            [
                "-h", socket, "-U", "postgres", "-n", "-M", "prepared", "-c", "\(clients)", "-j",
                "\(min(clients, 2))", "-t", "\(transactions / clients)", "-f", script.path,
                "postgres",
            ], ["PGOPTIONS": "-c search_path=\(schema)"])
        let line = output.split(separator: "\n").first { $0.hasPrefix("tps = ") } ?? ""
        guard let rate = Double(line.dropFirst(6).prefix { "0123456789.".contains($0) }),
            !output.contains("aborted")
        else { throw ClientFailure("pgbench: \(output.suffix(600))") }
        return rate
    }

    private static func run(
        _ tool: String, _ arguments: [String], _ environment: [String: String]
    ) throws -> String {
        let versions = try FileManager.default.contentsOfDirectory(atPath: "/usr/lib/postgresql")
        guard let version = versions.max(by: { (Int($0) ?? 0) < (Int($1) ?? 0) }) else {
            throw ClientFailure("PostgreSQL is not installed")
        }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/lib/postgresql/\(version)/bin/\(tool)")
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let text = String(
            decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw ClientFailure("\(tool): \(text.suffix(600))")
        }
        return text
    }
}
