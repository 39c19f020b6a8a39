// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import Synchronization

/// Errands that bring customers what the commits of others cause. Where everything repeats
/// itself, each call runs those that it causes before it returns, because the numbers that
/// they draw, and the commits that they make, must come before those of the next call. A
/// worker runs what a process has left when it died.
package enum FollowUps {
    /// Whether this task runs such errands, whose own commits then wait for none.
    @TaskLocal static var areRun = false
}

/// Whether a commit owes such errands, so that only those calls look for them. A class,
/// because the commit's closure may run more than once, and on another thread.
package final class FollowUpMark: Sendable {
    private let isOwed = Atomic(false)

    package init() {}

    package func set() { isOwed.store(true, ordering: .relaxed) }

    package var isSet: Bool { isOwed.load(ordering: .relaxed) }
}

extension Worker {
    /// The kinds of errands that a call waits for, in order.
    private var followUpKinds: [String] {
        context.errandHandlers.values.filter(\.isFollowUp).map(\.kind).sorted()
    }

    /// The kinds that a worker does not lease one by one.
    var kindsInTurn: [String] { context.repeatsItself ? followUpKinds : [] }

    /// For a call that has written something: runs the errands that it caused. What
    /// fails is reported, and left to the workers.
    package func followUp() async {
        guard context.repeatsItself, !FollowUps.areRun else { return }
        for index in context.databases.indices {
            do { try await followUp(in: index, waits: true) } catch is CancellationError {
                // The workers do it.
            } catch {
                context.report(
                    .warning, "what a call causes was not done at once",
                    ["cluster": context.name(ofDatabase: index), "fault": "\(error)"])
            }
        }
    }

    /// Runs what is owed in one database, due or not, one errand after the other. A
    /// jump runs it itself, after its inner work.
    func followUp(in index: Int, waits: Bool) async throws {
        let kinds = followUpKinds
        let isOwed = try await context.databases[index].read { reading in
            try kinds.contains { try Errands.isOwed($0, reading) }
                && ClockJump.current(reading) == nil
                && reading.query(Statement.Jumps.clocks, []).isEmpty
        }
        guard isOwed else { return }
        var held = HeldErrands(of: kinds, waits: waits)
        while true {
            switch try await run(&held, in: index) {
            case .done, .stuck: return
            case .ran, .waited: continue
            }
        }
    }
}
