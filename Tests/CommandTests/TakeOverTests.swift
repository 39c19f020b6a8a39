// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreWire
import TestSupport
import Testing

/// Two server processes on one PostgreSQL: one dies or sleeps in the middle
/// of its work, and the other takes over.
@Suite(.unforgiven, .timeLimit(.minutes(5))) struct TakeOverTests {
    private static let credits = "com.example.monkeycredits.credits5"
    private static let ok = ScriptedPeer.response("200 OK")

    let rig: Rig

    init() throws {
        rig = try Rig()
    }

    /// A server of one store. The first makes the sealing key that the
    /// others need. It says everything on standard output.
    private func serve(
        _ name: String, _ database: String, notify: ScriptedPeer? = nil
    ) async throws -> ChildProcess {
        var words = [
            "shopkeeper", "serve", "--port", "0", "--database", "'\(database)'", "--data",
            rig.path(name), "--seal-key", rig.path("seal.key"),
        ]
        if let notify { words += ["--notify", notify.url] }
        let child = try ChildProcess(
            ["sh", "-c", "exec \(words.joined(separator: " ")) 2>&1"],
            environment: rig.environment, folder: URL(fileURLWithPath: rig.folder.path))
        guard await child.line(with: "Serving") != nil else {
            throw Unexpected(await child.outcome().output)
        }
        return child
    }

    private func buy(_ name: String) async throws {
        _ = try await rig.object("buy", Self.credits, "--data", rig.path(name))
    }

    /// What a statement about the only realm answers. `errands` and other
    /// tables of the realm need no schema.
    private func ask(_ sql: String, _ database: String) async throws -> String {
        let schema = try await query(
            "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'realm%'", database)
        return try await query("SET search_path = \(schema); \(sql)", database)
    }

    private func query(_ sql: String, _ database: String) async throws -> String {
        let outcome = try await rig.run("psql", "-qAt", database, "-c", sql)
        guard outcome.status == 0 else { throw Unexpected(outcome.errors) }
        return outcome.output.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Returns when nothing is owed any more; asking takes its time.
    private func settled(_ database: String) async throws {
        try await until("a realm without errands") {
            try await ask("SELECT count(*) FROM errands", database) == "0"
        }
    }

    /// As when the lease's half minute has passed.
    private func endLeases(_ database: String) async throws {
        _ = try await ask("UPDATE errands SET lease_until = 0", database)
    }

    /// One notification, recorded once: signed, tried once with success.
    private func expectRecordedOnce(_ count: Int, _ database: String) async throws {
        let told = try await ask(
            """
            SELECT (SELECT count(*) FROM outbox) || ' ' || (SELECT count(*) FROM notifications
                WHERE delivered_at IS NOT NULL) || ' ' || (SELECT count(*)
                FROM notification_attempts WHERE attempt = 1 AND result = 'SUCCESS')
                || ' ' || (SELECT count(*) FROM notification_attempts)
            """, database)
        #expect(told == "\(count) \(count) \(count) \(count)")
    }

    private static func body(_ request: String) -> String? {
        request.components(separatedBy: "\r\n\r\n").last
    }

    @Test func `a worker killed in the middle is taken over`() async throws {
        let database = try await rig.database()
        let peer = try ScriptedPeer(.silence, .answerAgain(Self.ok))
        let first = try await serve("a", database, notify: peer)
        try await buy("a")
        for await _ in peer.heardRequests { break }

        first.kill(SIGKILL)
        _ = await first.outcome()
        try await endLeases(database)
        let second = try await serve("b", database)
        try await settled(database)

        let bodies = peer.requests.compactMap(Self.body)
        #expect(bodies.count == 2 && Set(bodies).count == 1)
        try await expectRecordedOnce(1, database)
        second.kill(SIGTERM)
        #expect(await second.outcome().status == 0)
    }

    @Test func `a worker that wakes after its lease changes nothing`() async throws {
        let database = try await rig.database()
        let peer = try ScriptedPeer(
            .answerWhenTold(ScriptedPeer.response("500 Late")), .answerAgain(Self.ok))
        let first = try await serve("a", database, notify: peer)
        try await buy("a")
        for await _ in peer.heardRequests { break }

        first.kill(SIGSTOP)
        try await endLeases(database)
        let second = try await serve("b", database)
        try await settled(database)
        try await expectRecordedOnce(1, database)
        first.kill(SIGCONT)
        peer.answerNow()

        #expect(await first.line(with: "an errand took longer than its lease") != nil)
        #expect(peer.requests.count == 2)
        try await expectRecordedOnce(1, database)
        #expect(try await ask("SELECT count(*) FROM errands", database) == "0")
        for server in [first, second] {
            server.kill(SIGTERM)
            #expect(await server.outcome().status == 0)
        }
    }

    @Test func `two workers deliver each notification once`() async throws {
        let database = try await rig.database()
        let peer = try ScriptedPeer(.answerAgain(Self.ok))
        let first = try await serve("a", database, notify: peer)
        let second = try await serve("b", database)
        // Each sale is another customer's: what is unfinished is not sold again.
        var made: [DeviceClient] = []
        for number in 0..<24 {
            let name = "c\(number)"
            _ = try await rig.object("customer", "create", name, "--data", rig.path("a"))
            let place = rig.path(["a", "b"][number % 2])
            made.append(try await DeviceClient(place, customer: name))
        }
        let devices = made

        try await withThrowingTaskGroup(of: Void.self) { group in
            for device in devices {
                group.addTask {
                    let id = UUID().uuidString.lowercased()
                    let sold = try await device.purchase(id)
                    #expect(sold.state == "sold")
                }
            }
            try await group.waitForAll()
        }
        try await settled(database)

        #expect(peer.requests.count == 24)
        #expect(Set(peer.requests.compactMap(Self.body)).count == 24)
        try await expectRecordedOnce(24, database)
        for server in [first, second] { server.kill(SIGTERM) }
    }

    /// Told, not found when the wait was over, which a busy machine may look
    /// like once, and a server that tells nobody always.
    @Test func `a device that waits at one server receives what the other sells`() async throws {
        let database = try await rig.database()
        let first = try await serve("a", database)
        let second = try await serve("b", database)
        let here = try await DeviceClient(rig.path("a"))
        let there = try DeviceClient(here, at: rig.path("b"))
        var waited = Duration.seconds(50)
        for _ in 0..<3 where waited >= .seconds(45) {
            let start = try await here.transactions(since: 0, waitSeconds: 0).revision
            let began = ContinuousClock.now

            async let news = here.transactions(since: start, waitSeconds: 50)
            let id = UUID().uuidString.lowercased()
            let sold = try await there.purchase(id)

            #expect(sold.state == "sold")
            let heard = try await news
            #expect(heard.transactions.map(\.purchaseId) == [id])
            waited = ContinuousClock.now - began
        }
        #expect(waited < .seconds(45))
        for server in [first, second] { server.kill(SIGTERM) }
    }
}
