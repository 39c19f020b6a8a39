// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage

extension Ledger {
    /// The longest pause between two looks for work: 30 seconds. Another process of the
    /// same database may have written it.
    static let workMillisecondsMax: Int64 = 30_000
    /// The pause if something is due that could not be done, because another process has
    /// it or the database does not answer.
    static let overdueMilliseconds: Int64 = 2_000

    private typealias Sleep = @Sendable (Duration) async throws -> Void

    /// Does what the ledger owes until its task is cancelled: it asks stores about
    /// kept proofs, reads what it missed from their notification histories, sends copies
    /// and webhooks on, completes erasures, and deletes what is not kept any longer. A
    /// message that this process writes is sent at once, and everything else when it is
    /// due. Call it once in a process, beside the server, also if the ledger calls no one.
    /// Any number of processes of one database may do so. It waits by ``LedgerPorts/sleep``
    /// or ``LedgerPorts/stores``. Without both it does once what is due, and returns.
    public func work() async {
        guard let sleep = ports.sleep ?? ports.stores?.sleep else {
            return await workOnce(isStart: true)
        }
        let ticket = errands.ticket()
        defer { errands.giveBack(ticket) }
        var isStart = true
        while !Task.isCancelled {
            await workOnce(isStart: isStart)
            isStart = false
            await wait(ticket, sleep)
        }
    }

    /// Sends new messages until something else is due. Messages do not put that off.
    private func wait(_ ticket: LedgerErrands.Ticket, _ sleep: @escaping Sleep) async {
        var end = await nextRound()
        while !Task.isCancelled {
            let left = end.milliseconds(since: ports.wall.now)
            // More than any pause is left if the machine's clock was set back.
            guard left > 0, left <= Self.workMillisecondsMax,
                await rest(.milliseconds(left), ticket, sleep)
            else { return }
            await sendMessages()
            end = min(end, await nextRound())
        }
    }

    /// Does what is due now. A fault is reported, and does not keep the rest from being
    /// done.
    func workOnce(isStart: Bool = false) async {
        await attempt("kept proofs could not be settled") { _ = try await settleProofs() }
        await attempt("gaps could not be filled") { _ = try await fillGaps(isStart: isStart) }
        await sendMessages()
        await attempt("erasures could not be completed") { try await completeErasures() }
        await attempt("what is not kept any longer could not be deleted") { try await forget() }
    }

    private func sendMessages() async {
        await attempt("copies could not be sent on") { _ = try await forward() }
        await attempt("webhooks could not be sent") { _ = try await deliverWebhooks() }
    }

    /// Waits until the worker is woken, or a pause is over. Returns whether it was woken
    /// before that.
    private func rest(
        _ pause: Duration, _ ticket: LedgerErrands.Ticket, _ sleep: @escaping Sleep
    ) async -> Bool {
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                guard (try? await sleep(pause)) != nil else { return }
                errands.soundAlarm()
            }
            _ = await ticket.wait()
            group.cancelAll()
        }
        return !errands.stopAlarm()
    }

    /// Returns when to look for work again.
    func nextRound() async -> Timestamp {
        let now = ports.wall.now
        var due: Timestamp?
        await attempt("it could not be read what is due") { due = try await nextDue(at: now) }
        let last = now.adding(milliseconds: Self.workMillisecondsMax)
        guard let due else { return last }
        return due > now
            ? min(due, last) : now.adding(milliseconds: Self.overdueMilliseconds)
    }

    /// Returns when something is due that this process can do. Nil if nothing is.
    private func nextDue(at now: Timestamp) async throws -> Timestamp? {
        let sends = ports.stores != nil
        let webhooks = sends ? configuration.webhooks : []
        let urls = sends ? Set(configuration.forwardsTo) : []
        let places = client?.places ?? []
        return try await storage.read { reading in
            var dates: [Int64?] = []
            if !places.isEmpty {
                let row = try reading.first(Statement.Waiting.nextDue)
                dates.append(try row?.optionalInteger("due_at"))
            }
            for webhook in webhooks {
                let date = try webhook.nextDue(reading)
                let rest = errands.rest(of: webhook.url, at: now)?.milliseconds
                dates.append(date.map { max($0, rest ?? $0) })
            }
            for url in urls {
                let row = try reading.first(Statement.Forwards.nextDue, [.text(url)])
                dates.append(try row?.integer("due_at"))
            }
            for place in places {
                let row = try reading.first(Statement.News.begunAt, place.key)
                dates.append(
                    try row.map { try $0.integer("begun_at") + NewsCursor.pauseMilliseconds })
            }
            return dates.compactMap(\.self).min().map(Timestamp.init(milliseconds:))
        }
    }

    private func attempt(_ message: String, _ body: () async throws -> Void) async {
        do { try await body() } catch {
            // A ledger that stops is no fault.
            guard !Task.isCancelled else { return }
            let fault = (error as? StorageFault).map { "\($0.code)" } ?? "\(type(of: error))"
            ports.log(message, ["fault": fault])
        }
    }
}
