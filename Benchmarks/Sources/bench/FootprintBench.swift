// SPDX-License-Identifier: Apache-2.0

import Foundation

/// What a served store needs of a machine: time to start, memory, disk, and
/// what a waiting device costs. Absolute numbers of this machine.
struct FootprintBench {
    let engine: BenchEngine
    let purchases = Brief.or(100_000, brief: 640)
    let waiting = Brief.or(10_000, brief: 500)
    private let customers = 64

    func run() async throws -> [String] {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("bench-footprint-\(engine.name)-\(getpid())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var notes: [String] = []
        notes.append(try start("first start, keys and databases made", folder).note)
        notes.append(try start("cold start", folder).note)
        try await BenchStore.make(customers: customers, in: folder, engine)
        let (server, _) = try started(folder)
        notes.append("resident memory, idle: \(Self.mebibytes(server.residentBytes))")
        let before = try diskBytes(folder)
        notes.append(try load(server))
        let disk = try diskBytes(folder) - before
        notes.append("disk: \(disk / purchases) bytes a purchase, \(diskName)")
        notes.append(try wait(server))
        server.kill()
        notes.append(try start("restart after kill -9", folder).note)
        notes.append(try waitAtBareServer())
        return notes.map { "\(engine.name): \($0)" }
    }

    private var diskName: String {
        engine.conninfo == nil ? "log included" : "indexes included, no log"
    }

    private func diskBytes(_ folder: URL) throws -> Int {
        guard case .server(let postgres) = engine else { return Self.size(of: folder) }
        let answer = try postgres.ask("SELECT pg_database_size(current_database())")
        return Int(answer.trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0
    }

    /// From the start of the process to the first answered product list.
    private func start(_ name: String, _ folder: URL) throws -> (note: String, Double) {
        let (server, time) = try started(folder)
        server.kill()
        return (String(format: "%@ to first product list: %.3f s", name, time), time)
    }

    private func started(_ folder: URL) throws -> (ServedProcess, Double) {
        var server: ServedProcess?
        let time = try seconds {
            let process = try ServedProcess(folder: folder, conninfo: engine.conninfo)
            let connection = try Connection(port: process.port)
            let token = try connection.signIn()
            _ = try connection.ask(
                "POST", "/device/v1/products", token: token, body: #"{"ids":["com.example.coins"]}"#
            )
            server = process
        }
        guard let server else { throw ClientFailure("no server") }
        return (server, time)
    }

    private func load(_ server: ServedProcess) throws -> String {
        progress("\(purchases) purchases")
        let tokens = try (0..<customers).map { number in
            try Connection(port: server.port).signIn(customer: "customer-\(number)")
        }
        _ = try LoadProcess.run(
            port: Int(server.port), connections: customers, requests: purchases,
            token: tokens.joined(separator: ","), path: "/device/v1/purchases/",
            run: UInt32.random(in: .min ... .max))
        return "resident memory after \(purchases) purchases: "
            + Self.mebibytes(server.residentBytes)
    }

    private func wait(_ server: ServedProcess) throws -> String {
        progress("\(waiting) devices that wait")
        let first = try Connection(port: server.port)
        let token = try first.signIn()
        let revision = try first.revision(token)
        let path = "/device/v1/transactions?since=\(revision)&wait=50"
        let (bytes, connections) = try wait(server, path, token)
        // A request that comes after them is answered, so they all wait.
        try withExtendedLifetime(connections) { _ = try first.revision(token) }
        return "a waiting device (\(waiting) connected): \(bytes) bytes of memory"
    }

    /// The floor: the HTTP library alone, without our limits and checks.
    private func waitAtBareServer() throws -> String {
        let server = try ServedProcess(arguments: ["hold"])
        defer { server.kill() }
        let (bytes, _) = try wait(server, "/hold", nil)
        return "the same at a bare server of the HTTP library: \(bytes) bytes"
    }

    private func wait(
        _ server: ServedProcess, _ path: String, _ token: String?
    ) throws -> (bytes: Int, [Connection]) {
        let before = server.residentBytes
        var connections: [Connection] = []
        for _ in 0..<waiting {
            let connection = try Connection(port: server.port)
            try connection.send("GET", path, token: token)
            connections.append(connection)
        }
        Thread.sleep(forTimeInterval: 2)
        return ((server.residentBytes - before) / waiting, connections)
    }

    private static func size(of folder: URL) -> Int {
        let keys: [URLResourceKey] = [.fileSizeKey]
        let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: keys)
        var size = 0
        while let file = files?.nextObject() as? URL {
            size += (try? file.resourceValues(forKeys: Set(keys)).fileSize) ?? 0
        }
        return size
    }

    private static func mebibytes(_ bytes: Int) -> String {
        String(format: "%.1f MiB", Double(bytes) / 1_048_576)
    }
}
