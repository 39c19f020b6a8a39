// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
public import StoreWire

extension Ledger {
    /// After this time a copy is parked: it is not sent any more, and the next one is.
    static let parkedAfterMilliseconds: Int64 = 3 * 86_400_000
    /// The most copies that are sent to a URL in one go.
    static let forwardedMax = 100
    private static let pauses = RetryTimetable(
        seconds: [5, 30, 120, 600, 1800, 3600, 7200, 14_400])

    /// Sends the copies of notifications that are due, one URL beside the other, and
    /// for each URL in the order in which they came in. Returns how many arrived.
    func forward() async throws -> Int {
        guard let door = ports.stores else { return 0 }
        return try await withThrowingTaskGroup(of: Int.self) { group in
            for url in Set(configuration.forwardsTo) {
                group.addTask { try await forward(to: url, door) }
            }
            return try await group.reduce(0, +)
        }
    }

    private func forward(to url: String, _ door: StoreDoor) async throws -> Int {
        for count in 0..<Self.forwardedMax {
            try Task.checkCancellation()
            guard let copy = try await lease(url) else { return count }
            let reason = await send(copy, door)
            try Task.checkCancellation()
            guard let reason else {
                try await storage.write { try $0.execute(Statement.Forwards.sent, copy.lease) }
                continue
            }
            let now = ports.wall.now
            let isOver = copy.receivedAt.adding(milliseconds: Self.parkedAfterMilliseconds) <= now
            let next = Self.pauses.nextForEver(afterAttempts: copy.attempt, at: now)
            let values: [SQLValue] = [
                .integer(next.milliseconds), .text(reason),
                isOver ? .integer(now.milliseconds) : .null,
            ]
            try await storage.write {
                try $0.execute(Statement.Forwards.postpone, copy.lease + values)
            }
            if isOver { ports.log("a copy of a notification is parked", ["trouble": reason]) }
            // What follows waits for it, unless it is parked.
            guard isOver else { return count }
        }
        return Self.forwardedMax
    }

    private struct Copy: Sendable {
        let key: [SQLValue]
        let url: String
        let payload: KeptPayload
        let attempt: Int
        let receivedAt: Timestamp

        var lease: [SQLValue] { key + [.integer(Int64(attempt))] }
    }

    /// Nil if nothing is due, or another process sends to the URL.
    private func lease(_ url: String) async throws -> Copy? {
        let now = ports.wall.now
        guard
            let head = try await storage.read({
                try $0.first(Statement.Forwards.head, [.text(url)])
            }), try head.integer("due_at") <= now.milliseconds
        else { return nil }
        let attempt = try head.integer("attempt")
        let copy = Copy(
            key: [
                .text(url), .text(try head.text("root")), .text(try head.text("notification_id")),
            ],
            url: url, payload: KeptPayload(text: try head.text("payload")),
            attempt: Int(attempt) + 1,
            receivedAt: Timestamp(milliseconds: try head.integer("received_at")))
        let until = now.adding(milliseconds: Self.sendingMilliseconds)
        let row = try await storage.write {
            try $0.first(
                Statement.Forwards.lease,
                copy.key + [.integer(attempt), .integer(until.milliseconds)])
        }
        return row == nil ? nil : copy
    }

    /// Returns why it did not arrive, or nil.
    private func send(_ copy: Copy, _ door: StoreDoor) async -> String? {
        do {
            let answer = try await door.send(
                StoreCall(
                    .merchant, "POST", copy.url, headers: ["Content-Type": "application/json"],
                    body: try copy.payload.body(), timeoutMilliseconds: 15_000,
                    answerBytesMax: 65_536))
            return (200..<300).contains(answer.status)
                ? nil : "the server answered with \(answer.status)"
        } catch let unreached as StoreUnreached { return unreached.reason } catch {
            return "it could not be sent"
        }
    }

    /// Returns the copies that wait for each URL, and those that are parked.
    public func forwards() async throws -> ForwardReports {
        let rows = try await storage.read { try $0.query(Statement.Forwards.counts, []) }
        return ForwardReports(
            forwards: try rows.map { row in
                ForwardReport(
                    url: try row.text("url"), waiting: Int(try row.integer("waiting")),
                    parked: Int(try row.integer("parked")),
                    oldestDate: Timestamp(milliseconds: try row.integer("oldest")),
                    trouble: try row.optionalText("trouble"))
            })
    }

    /// Sends what was parked for a URL again, behind what waits already.
    public func unpark(_ request: UnparkRequest) async throws -> ForwardReports {
        let url = try Edge.text(request.url, "url", bytesMax: 2048)
        let now = ports.wall.now
        let note = note(.unparked, String(url.prefix(200)))
        try await commit {
            try $0.execute(
                Statement.Forwards.unpark, [.text(url), .integer(now.milliseconds)])
            try note?.write($0)
        }
        return try await forwards()
    }
}
