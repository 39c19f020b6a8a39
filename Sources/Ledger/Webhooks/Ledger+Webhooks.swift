// SPDX-License-Identifier: Apache-2.0

import Commerce
import SignedData
import Storage
public import StoreWire

/// The messages to the merchant's servers.
extension Ledger {
    private static let webhookPauses = RetryTimetable(
        seconds: [5, 30, 120, 600, 1800, 3600, 7200, 14_400])
    /// The most messages that are sent to a server in one go.
    static let webhooksMax = 100
    /// How long a process has a message for itself: longer than sending it takes. If the
    /// process dies, or cannot write what became of it, it is sent again then.
    static let sendingMilliseconds: Int64 = 45_000

    /// Sends the messages that are due, one server beside the other. Returns how many
    /// arrived.
    func deliverWebhooks() async throws -> Int {
        guard let door = ports.stores else { return 0 }
        return try await withThrowingTaskGroup(of: Int.self) { group in
            for endpoint in configuration.webhooks {
                group.addTask { try await deliver(to: endpoint, door) }
            }
            return try await group.reduce(0, +)
        }
    }

    private func deliver(to endpoint: WebhookEndpoint, _ door: StoreDoor) async throws -> Int {
        var arrived = 0
        for _ in 0..<Self.webhooksMax {
            try Task.checkCancellation()
            guard errands.rest(of: endpoint.url, at: ports.wall.now) == nil,
                let message = try await lease(endpoint)
            else { break }
            let outcome = await send(message, to: endpoint, door)
            try Task.checkCancellation()
            if try await note(outcome, of: message) { arrived += 1 }
        }
        return arrived
    }

    private struct Message: Sendable {
        let url: String
        let id: String
        let body: String
        let attempt: Int
        let owedAt: Timestamp

        var lease: [SQLValue] { [.text(url), .text(id), .integer(Int64(attempt))] }
    }

    private enum Outcome: Sendable {
        case arrived
        /// `until`: when the server wants the next message, if it said so.
        case failed(String, until: Timestamp? = nil)
        /// The server wants no messages any more.
        case gone
    }

    /// Nil if nothing is due, or another process sends what is.
    private func lease(_ endpoint: WebhookEndpoint) async throws -> Message? {
        let now = ports.wall.now
        let values: [SQLValue] = [
            .text(endpoint.url), .integer(now.milliseconds), .boolean(endpoint.isOrdered),
            .integer(1),
        ]
        let row = try await storage.read { try $0.first(Statement.Webhooks.due, values) }
        guard let row else { return nil }
        let attempt = try row.integer("attempt")
        let message = Message(
            url: endpoint.url, id: try row.text("message_id"), body: try row.text("body"),
            attempt: Int(attempt) + 1,
            owedAt: Timestamp(milliseconds: try row.integer("owed_at")))
        let until = now.adding(milliseconds: Self.sendingMilliseconds)
        let leased = try await storage.write {
            try $0.first(
                Statement.Webhooks.lease,
                [
                    .text(message.url), .text(message.id), .integer(attempt),
                    .integer(until.milliseconds),
                ])
        }
        return leased == nil ? nil : message
    }

    private func send(
        _ message: Message, to endpoint: WebhookEndpoint, _ door: StoreDoor
    ) async -> Outcome {
        let seconds = ports.wall.now.milliseconds / 1000
        let body = Array(message.body.utf8)
        let headers = [
            "Content-Type": "application/json", "webhook-id": message.id,
            "webhook-timestamp": "\(seconds)",
            "webhook-signature": endpoint.secret.signature(
                id: message.id, timestampSeconds: seconds, body: body),
        ]
        do {
            let answer = try await door.send(
                StoreCall(
                    .merchant, "POST", message.url, headers: headers, body: body,
                    timeoutMilliseconds: 15_000, answerBytesMax: 65_536))
            if answer.status == 410 { return .gone }
            if (200..<300).contains(answer.status) { return .arrived }
            return .failed(
                "the server answered with \(answer.status)",
                until: RetryAfter.endpoint(answer.retryAfter, now: ports.wall.now))
        } catch { return .failed(error.reason) }
    }

    /// Returns whether it arrived.
    private func note(_ outcome: Outcome, of message: Message) async throws -> Bool {
        let now = ports.wall.now
        let trouble: String
        let end = message.owedAt.adding(milliseconds: Self.parkedAfterMilliseconds)
        var isOver = end <= now
        var next = Self.webhookPauses.nextForEver(afterAttempts: message.attempt, at: now)
        switch outcome {
        case .arrived:
            try await storage.write {
                try $0.execute(
                    Statement.Webhooks.sent, message.lease + [.integer(now.milliseconds)])
            }
            return true
        case .failed(let reason, let until):
            trouble = reason
            guard let until else { break }
            errands.rest(message.url, until: until)
            // The last attempt is made at the end of the three days.
            next = max(next, min(until, end))
        case .gone:
            trouble = "the server answered with 410: it wants no messages"
            isOver = true
        }
        let values: [SQLValue] = [
            .integer(next.milliseconds), .text(trouble),
            isOver ? .integer(now.milliseconds) : .null,
        ]
        try await storage.write {
            try $0.execute(Statement.Webhooks.postpone, message.lease + values)
        }
        if isOver { ports.log("a webhook is parked", ["trouble": trouble]) }
        return false
    }

    /// Returns a page of messages, the newest first. `state`: `waiting`, `sent` or
    /// `parked`; nil for all. Refusals: `textInvalid`, `stateInvalid`, `cursorInvalid`,
    /// `limitInvalid`.
    public func webhooks(
        url: String? = nil, state: String? = nil, after: String? = nil, limit: Int? = nil
    ) async throws -> WebhookReports {
        let url = try url.map { try Edge.text($0, "url", bytesMax: 2048) }
        guard state.map({ ["waiting", "sent", "parked"].contains($0) }) != false else {
            throw LedgerRefusal(
                .badRequest, code: "stateInvalid", "There is no such state.", field: "state",
                rule: "waiting, sent or parked", remedy: "leave it out for all")
        }
        let start = try after.map(Self.webhookCursor) ?? [.integer(.max), .text(""), .text("")]
        let limit = try Edge.limit(limit)
        let values = start + [.optional(url), .optional(state), .integer(Int64(limit + 1))]
        let rows = try await storage.read { try $0.query(Statement.Webhooks.page, values) }
        let page = rows.prefix(limit)
        return WebhookReports(
            webhooks: try page.map { try WebhookReport($0) },
            next: rows.count > limit
                ? try page.last.map {
                    try [
                        "\($0.integer("created_at"))", $0.text("message_id"), $0.text("url"),
                    ].joined(separator: ".")
                } : nil)
    }

    private static func webhookCursor(_ text: String) throws(LedgerRefusal) -> [SQLValue] {
        let parts = text.split(separator: ".", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let date = Int64(parts[0]), !text.utf8.contains(0),
            text.utf8.count <= 2400
        else {
            throw LedgerRefusal(
                .badRequest, code: "cursorInvalid", "This is not the end of a page.",
                field: "after", rule: "the `next` of an earlier answer",
                remedy: "leave it out to start from the first page")
        }
        return [.integer(date), .text(String(parts[1])), .text(String(parts[2]))]
    }

    /// Sends messages again: those named, or all that are parked for a URL. Refusals:
    /// `textInvalid`, `messagesTooMany`.
    public func replayWebhooks(_ request: WebhooksRequest) async throws -> WebhooksChanged {
        errands.endRest(request.url)
        return try await change(request, .replayed, Statement.Webhooks.replay) {
            try $0.query(Statement.Webhooks.replayParked, $1).count
        }
    }

    /// Parks messages that wait. Refusals: as for ``replayWebhooks(_:)``.
    public func parkWebhooks(_ request: WebhooksRequest) async throws -> WebhooksChanged {
        try await change(request, .parked, Statement.Webhooks.park) { _, _ in 0 }
    }

    private func change(
        _ request: WebhooksRequest, _ action: AuditAction, _ statement: Statement,
        all: @escaping @Sendable (any Writing, [SQLValue]) throws -> Int
    ) async throws -> WebhooksChanged {
        let url = try Edge.text(request.url, "url", bytesMax: 2048)
        let ids = try request.messageIds?.map { try Edge.text($0, "messageIds") }
        guard ids.map({ $0.count <= Edge.pageMax }) != false else {
            throw LedgerRefusal(
                .badRequest, code: "messagesTooMany", "These are too many messages.",
                field: "messageIds", rule: "at most \(Edge.pageMax)",
                remedy: "send several requests")
        }
        let values: [SQLValue] = [.text(url), .integer(ports.wall.now.milliseconds)]
        let note = note(action, String(url.prefix(200)))
        let changed = try await commit { writing -> Int in
            var changed = 0
            if let ids {
                for id in ids {
                    let row = try writing.first(statement, values + [.text(id)])
                    changed += row == nil ? 0 : 1
                }
            } else {
                changed = try all(writing, values)
            }
            if changed > 0 { try note?.write(writing) }
            return changed
        }
        return WebhooksChanged(changed: changed)
    }
}

extension WebhookReport {
    fileprivate init(_ row: Row) throws {
        let instant = { (column: String) throws in
            try row.optionalInteger(column).map(Timestamp.init(milliseconds:))
        }
        let account = try row.text("account")
        let (sentAt, parkedAt) = (try instant("sent_at"), try instant("parked_at"))
        let state = parkedAt != nil ? "parked" : sentAt != nil ? "sent" : "waiting"
        self.init(
            url: try row.text("url"), messageId: try row.text("message_id"),
            type: try row.text("event"), account: account.isEmpty ? nil : account, state: state,
            createdDate: Timestamp(milliseconds: try row.integer("created_at")),
            attempts: Int(try row.integer("attempt")),
            nextDate: state == "waiting" ? try instant("due_at") : nil, sentDate: sentAt,
            trouble: try row.optionalText("trouble"))
    }
}
