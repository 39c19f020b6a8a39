// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// Purchases that arrive at their own pace, whether or not the store keeps
/// up: what a customer waits at 30 % and 70 % of what it can do. A request's
/// time counts from when it was due, so that a stall is not left out.
struct LatencyBench {
    let engine: BenchEngine
    let connections = 64
    let requests = Brief.or(6400, brief: 640)
    private let secondsEach = Brief.or(20.0, brief: 2)
    private let runs = Brief.or(9, brief: 2)
    private let updatesEach = Brief.or(500, brief: 50)

    func run() async throws -> [String] {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("bench-latency-\(engine.name)-\(getpid())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await BenchStore.make(customers: connections, in: folder, engine)
        let server = try ServedProcess(folder: folder, conninfo: engine.conninfo)
        let tokens = try (0..<connections).map { number in
            try Connection(port: server.port).signIn(customer: "customer-\(number)")
        }
        let end = End(port: server.port, path: "/device/v1/purchases/", tokens: tokens)
        let capacity = try capacity(end)
        var notes = [
            String(
                format: "capacity at %d connections: %.0f purchases a second", connections, capacity
            )
        ]
        let quiet = try openLoop(end, rate: capacity * 0.3, seconds: secondsEach)
        notes.append("open loop at 30 % of capacity: " + quiet.line)
        notes += try busy(end, capacity, folder)
        progress("commit to device update")
        let latencies = try Self.updates(
            boughtAt: server.port, waitedForAt: server.port, count: updatesEach)
        notes.append("commit to device update, same process: " + latencies.line)
        if engine.conninfo != nil {
            let other = try ServedProcess(folder: folder, conninfo: engine.conninfo)
            let latencies = try Self.updates(
                boughtAt: server.port, waitedForAt: other.port, count: updatesEach)
            notes.append("commit to device update, other process: " + latencies.line)
        }
        return notes.map { "\(engine.name): \($0)" }
    }

    /// At 70 % of what each can do, in turns with the bare handler, which runs
    /// the same SQL without rules. One stall of the machine, which also runs the
    /// load, makes the p99 of a run; the median of the runs leaves it out.
    private func busy(_ end: End, _ capacity: Double, _ folder: URL) throws -> [String] {
        let beside = try engine.another()
        let server = try ServedProcess(
            arguments: ["bare", folder.appendingPathComponent("bare").path]
                + (beside.conninfo.map { [$0] } ?? []))
        defer { server.kill() }
        let bare = End(port: server.port, path: "/bare/", tokens: ["none"])
        let bareCapacity = try self.capacity(bare)
        var (ours, theirs) = (Runs(), Runs())
        for _ in 0..<runs {
            theirs.add(try openLoop(bare, rate: bareCapacity * 0.7, seconds: secondsEach / 5))
            ours.add(try openLoop(end, rate: capacity * 0.7, seconds: secondsEach / 5))
        }
        return [
            "open loop at 70 % of capacity: " + ours.line,
            String(format: "bare handler, capacity %.0f, at 70 %% of it: ", bareCapacity)
                + theirs.line,
        ]
    }

    /// What is asked to sell: the store, or the bare handler.
    private struct End {
        let port: UInt16
        let path: String
        let tokens: [String]
    }

    private func capacity(_ end: End) throws -> Double {
        progress("capacity")
        let times = try (0..<5).map { _ in
            try LoadProcess.run(
                port: Int(end.port), connections: connections, requests: requests,
                token: end.tokens.joined(separator: ","), path: end.path,
                run: UInt32.random(in: .min ... .max))
        }
        return Double(requests) / times.sorted()[2]
    }

    /// Connections take turns; each sends when its next request is due.
    private func openLoop(_ end: End, rate: Double, seconds: Double) throws -> Latencies {
        progress(String(format: "open loop at %.0f a second", rate))
        let count = max(1, Int(rate * seconds) / connections)
        let all = Mutex(Latencies())
        let failure = Mutex<(any Error)?>(nil)
        let group = DispatchGroup()
        let start = ContinuousClock.now + .milliseconds(200)
        let gap = Double(connections) / rate
        for index in 0..<connections {
            group.enter()
            let connection = try Connection(port: end.port)
            let turn = Turn(
                connection: connection, token: end.tokens[index % end.tokens.count],
                path: end.path, count: count, gap: gap,
                first: start + .seconds(gap * Double(index) / Double(connections)))
            Thread.detachNewThread {
                do {
                    let times = try turn.run()
                    all.withLock { $0.add(times) }
                } catch { failure.withLock { $0 = error } }
                group.leave()
            }
        }
        group.wait()
        if let failure = failure.withLock({ $0 }) { throw failure }
        return all.withLock { $0 }
    }

    /// From a purchase's answer at one device to the news at another's poll.
    static func updates(
        boughtAt buying: UInt16, waitedForAt waiting: UInt16, count: Int
    ) throws -> Latencies {
        let buyer = try Connection(port: buying)
        let buyerToken = try buyer.signIn()
        let waiterToken = try Connection(port: waiting).signIn()
        var latencies = Latencies()
        for _ in 0..<count {
            // The server closes a connection that has waited.
            let waiter = try Connection(port: waiting)
            let revision = try waiter.revision(waiterToken)
            try waiter.send(
                "GET", "/device/v1/transactions?since=\(revision)&wait=50", token: waiterToken)
            try buyer.buy(buyerToken)
            let bought = ContinuousClock.now
            _ = try waiter.answer()
            latencies.add([max(0, (ContinuousClock.now - bought).inSeconds)])
        }
        return latencies
    }
}

/// Several runs of an open loop, each judged by itself.
private struct Runs {
    private var all = Latencies()
    private var each: [Latencies] = []

    mutating func add(_ run: Latencies) {
        all.add(run.seconds)
        each.append(run)
    }

    private func median(_ figure: (Latencies) -> Double) -> Double {
        each.map(figure).sorted()[each.count / 2]
    }

    var line: String {
        String(
            format: "p99 / p50 %.1f, p50 %.2f ms, p99 %.2f ms (medians of %d runs); all of them: ",
            median { $0.percentile(0.99) / $0.percentile(0.5) },
            median { $0.percentile(0.5) } * 1e3,
            median { $0.percentile(0.99) } * 1e3, each.count) + all.line
    }
}

/// One connection's part of an open loop. `@unchecked`: its own thread's alone.
private final class Turn: @unchecked Sendable {
    private let connection: Connection
    private let token: String
    private let path: String
    private let count: Int
    private let gap: Double
    private let first: ContinuousClock.Instant

    init(
        connection: Connection, token: String, path: String, count: Int, gap: Double,
        first: ContinuousClock.Instant
    ) {
        self.connection = connection
        self.token = token
        self.path = path
        self.count = count
        self.gap = gap
        self.first = first
    }

    func run() throws -> [Double] {
        try (0..<count).map { number in
            let due = first + .seconds(gap * Double(number))
            let early = (due - ContinuousClock.now).inSeconds
            if early > 0 { Thread.sleep(forTimeInterval: early) }
            try connection.buy(token, at: path)
            return (ContinuousClock.now - due).inSeconds
        }
    }
}
