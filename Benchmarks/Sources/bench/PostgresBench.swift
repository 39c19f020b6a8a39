// SPDX-License-Identifier: Apache-2.0

import Foundation
import Live
import Shop
import Storage
import StoragePostgres
import StoreWire

/// Purchases on PostgreSQL, each client for a customer of its own: at the
/// storage port and through HTTP, against pgbench with the same statements
/// in the same run.
struct PostgresBench {
    let purchases = Brief.or(3840, brief: 128)
    let pairs = Brief.or(7, brief: 1)
    private let postgres: BenchPostgres
    private let folder: URL

    init() throws {
        postgres = try BenchPostgres()
        folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("bench-postgres-\(getpid())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    func run() async throws -> (figures: [Pairs], notes: [String]) {
        defer { try? FileManager.default.removeItem(at: folder) }
        let world = try await World(postgres.conninfo, folder)
        let file = folder.appendingPathComponent("purchase.sql")
        try world.script.pgbench(first: world.customers[0], step: world.step)
            .write(to: file, atomically: true, encoding: .utf8)
        let servers = try (0..<2).map { _ in
            try ServedProcess(folder: folder, conninfo: postgres.conninfo)
        }
        let tokens = try (0..<64).map { number in
            try Connection(port: servers[0].port).signIn(customer: "customer-\(number)")
        }
        var figures: [Pairs] = []
        for clients in [1, 8, 64] {
            figures += try await measure(world, file, servers, tokens, clients)
        }
        var notes = ["commit to device update, other process: " + (try updates(servers)).line]
        notes.append(try disk(world, servers[0], tokens))
        await world.close()
        return (figures, notes)
    }

    private func measure(
        _ world: World, _ file: URL, _ servers: [ServedProcess], _ tokens: [String],
        _ clients: Int
    ) async throws -> [Pairs] {
        var port = Pairs("purchase at the port / pgbench, \(clients) client(s)", atLeast: 0.7)
        var one = Pairs("purchase through HTTP / pgbench, \(clients) client(s)", atLeast: 0.35)
        var two = Pairs("the same, two processes, \(clients) client(s)", atLeast: 0.35)
        for number in 0...pairs {
            progress("postgres, \(clients) client(s), pair \(number) of \(pairs)")
            let rate = try postgres.pgbench(
                file, clients: clients, transactions: purchases, schema: world.schema)
            let bare = Double(purchases) / rate
            let atPort = try await secondsAwaited { try await world.buy(purchases, clients) }
            let served = try load(servers[0], tokens, clients, purchases)
            // Each process half of the clients, at the same time.
            let both = clients < 2 ? nil : try both(servers, tokens, clients)
            // The first is for warming up.
            guard number > 0 else { continue }
            port.add(bare: bare, ours: atPort)
            one.add(bare: bare, ours: served)
            if let both { two.add(bare: bare, ours: both) }
        }
        return [port, one] + (clients < 2 ? [] : [two])
    }

    private func load(
        _ server: ServedProcess, _ tokens: [String], _ clients: Int, _ count: Int
    ) throws -> Double {
        try LoadProcess.run(
            port: Int(server.port), connections: clients, requests: count,
            token: tokens.joined(separator: ","), path: "/device/v1/purchases/",
            run: UInt32.random(in: .min ... .max))
    }

    private func both(
        _ servers: [ServedProcess], _ tokens: [String], _ clients: Int
    ) throws -> Double {
        let group = DispatchGroup()
        let halves = [Array(tokens[..<32]), Array(tokens[32...])]
        nonisolated(unsafe) var failure: (any Error)?
        let ports = servers.map { Int($0.port) }
        let half = purchases / 2
        let time = seconds {
            for (port, tokens) in zip(ports, halves) {
                group.enter()
                Thread.detachNewThread { [group] in
                    defer { group.leave() }
                    do {
                        _ = try LoadProcess.run(
                            port: port, connections: clients / 2, requests: half,
                            token: tokens.joined(separator: ","), path: "/device/v1/purchases/",
                            run: UInt32.random(in: .min ... .max))
                    } catch { failure = error }
                }
            }
            group.wait()
        }
        if let failure { throw failure }
        return time
    }

    /// From a purchase's answer by one process to the news at a poll of another.
    private func updates(_ servers: [ServedProcess]) throws -> Latencies {
        progress("commit to device update, other process")
        return try LatencyBench.updates(
            boughtAt: servers[0].port, waitedForAt: servers[1].port,
            count: Brief.or(300, brief: 20))
    }

    private func disk(
        _ world: World, _ server: ServedProcess, _ tokens: [String]
    ) throws -> String {
        let question = """
            SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class c
            JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE c.relkind = 'r' AND n.nspname = '\(world.schema)'
            """
        func size() throws -> Int {
            Int(try postgres.ask(question).trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0
        }
        progress("disk")
        let before = try size()
        let count = Brief.or(12_800, brief: 640)
        _ = try load(server, tokens, 64, count)
        return "disk: \((try size() - before) / count) bytes a purchase, indexes included, no log"
    }
}

/// A store on PostgreSQL in this process, with a customer for each client.
private struct World {
    let script: PurchaseScript
    let customers: [Int64]
    let step: Int64
    let schema: String
    private let store: Store
    private let storage: RecordingStorage

    init(_ conninfo: String, _ folder: URL) async throws {
        let recorder = Recorder()
        var places = BenchPostgres.places(conninfo)
        let inner = places.realm
        places.realm = { id, migrations in
            let storage = RecordingStorage(try await inner(id, migrations))
            recorder.storage = storage
            return storage
        }
        store = try await BenchStore.open(in: folder, places: places)
        let realm = try await BenchStore.realm(of: store)
        schema = "realm_" + realm.description.id
        var customers: [Int64] = []
        for number in 0..<64 {
            let made = try await realm.customers.createCustomer(
                CreateCustomerRequest(name: "customer-\(number)"))
            customers.append(Int64(made.customerId) ?? 0)
        }
        self.customers = customers
        step = customers[1] - customers[0]
        let isEven = zip(customers, customers.dropFirst()).allSatisfy { [step] in $1 - $0 == step }
        guard let storage = recorder.storage, isEven else {
            throw ClientFailure("customers whose numbers are not evenly apart")
        }
        self.storage = storage
        script = try await Self.record(realm, storage)
    }

    func close() async { await store.close() }

    /// As many purchases at the port, by as many clients at the same time.
    func buy(_ count: Int, _ clients: Int) async throws {
        let (script, storage) = (script, storage)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for client in 0..<clients {
                let customer = customers[client]
                group.addTask {
                    for _ in 0..<count / clients {
                        try await script.run(
                            storage, customer: customer,
                            number: Int64.random(in: 1_000_000_000...900_000_000_000))
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    private static func record(
        _ realm: Realm, _ storage: RecordingStorage
    ) async throws -> PurchaseScript {
        let context = RequestContext(requestID: "bench")
        let answer = try await realm.customers.signIn(
            SignInRequest(
                bundleId: "com.example.app", deviceUUID: UUID().uuidString.lowercased(),
                customer: "customer-0"), context)
        let session = try await realm.customers.session(token: answer.token)
        let id = UUID().uuidString.lowercased()
        storage.record()
        let sold = try await realm.purchases.purchase(
            id,
            PurchaseRequest(
                productId: "com.example.coins", quantity: 1, unitPrice: 990, currency: "USD"),
            session, context)
        let steps = storage.recorded()
        let row = steps.first { $0.statement.name == "transactions.insert" }
        guard sold.state == "sold", case .integer(let number) = row?.values[1] else {
            throw ClientFailure("the purchase to be recorded was not sold")
        }
        return PurchaseScript(
            steps: steps, customer: session.customer.value, purchaseID: id, transactionID: number)
    }
}
