// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import Synchronization

extension Ledger {
    /// The longest pause between two looks for work.
    static let workPause = Duration.seconds(2)

    /// Does what the ledger owes until its task is cancelled: it asks stores about
    /// kept proofs, reads what it missed from their notification histories, and sends
    /// copies on. Call it once in a process, beside the server. Any number of processes
    /// of one database may do so. Returns at once if the ledger calls no one.
    public func work() async {
        guard let door = ports.stores else { return }
        var isStart = true
        while !Task.isCancelled {
            await workOnce(isStart: isStart)
            isStart = false
            guard (try? await door.sleep(Self.workPause)) != nil else { return }
        }
    }

    /// Does what is due now. A fault is reported, and does not keep the rest from being
    /// done.
    func workOnce(isStart: Bool = false) async {
        await attempt("kept proofs could not be settled") { _ = try await settleProofs() }
        await attempt("gaps could not be filled") { _ = try await fillGaps(isStart: isStart) }
        await attempt("copies could not be sent on") { _ = try await forward() }
        await attempt("webhooks could not be sent") { _ = try await deliverWebhooks() }
        await attempt("refused proofs could not be deleted") { try await forgetProofs() }
    }

    private func attempt(_ message: String, _ body: () async throws -> Void) async {
        do { try await body() } catch {
            // A ledger that stops is no fault.
            guard !Task.isCancelled else { return }
            let fault = (error as? StorageFault).map { "\($0.code)" } ?? "\(type(of: error))"
            ports.log(message, ["fault": fault])
        }
    }

    private func forgetProofs() async throws {
        let oldest = ports.wall.now.adding(milliseconds: -WaitingProof.refusedMilliseconds)
        let isDue = figures.forgottenAt.withLock { last in
            let now = ports.wall.now
            guard let known = last, now.milliseconds(since: known) < 3_600_000 else {
                last = now
                return true
            }
            return false
        }
        guard isDue else { return }
        let kept = ports.wall.now.adding(milliseconds: -WebhookMessage.keptMilliseconds)
        try await storage.write {
            try $0.execute(Statement.Waiting.forget, [.integer(oldest.milliseconds)])
            try $0.execute(Statement.Webhooks.forget, [.integer(kept.milliseconds)])
        }
    }
}
