// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import Work

extension KeepingRoom {
    /// Does due work, inner and outer, until it is cancelled or the realm is
    /// closed. Called once for each realm and process: see ``Store/work()``.
    func work() async { await realm.worker.work() }

    /// Does all work that is due now, and the work that this makes due. Returns
    /// how much it was. For tests and for jumps of a clock. Does not wait for
    /// any date.
    @discardableResult
    public func workOnce() async throws -> Int {
        var count = 0
        while true {
            var done = 0
            // The home comes last, because its jump ends after those of the others.
            for index in realm.clusters.all.indices.reversed() {
                if index > 0 { try await tidy(index) }
                done += try await realm.worker.workOnce(in: index)
            }
            count += done
            if done == 0 || realm.clusters.isOne { return count }
        }
    }

    /// Whether there is any work, due now or later. A cluster that does not
    /// answer may have some.
    func owesWork() async throws -> Bool {
        do {
            return try await realm.readAll { try Worker<Realm>.owesWork($0) }.contains(
                true)
        } catch let fault as StorageFault where !realm.clusters.isOne && Realm.isAway(fault) {
            return true
        }
    }

    /// What a realm's worker does besides.
    static let chores = [
        Chore<Realm>(
            startSeconds: 0, pauseSeconds: tidyPauseSeconds, isApart: false, isOfFirst: false
        ) { realm, index in await realm.keeping.tidyQuietly(index) },
        Chore<Realm>(startSeconds: 0, pauseSeconds: prunePauseSeconds, isApart: true) {
            realm, index in
            if index == 0 { await realm.keeping.mendClocksQuietly() }
        },
        Chore<Realm>(
            startSeconds: KeepingRoom.pruneStartSeconds,
            pauseSeconds: KeepingRoom.prunePauseSeconds, isApart: true
        ) { realm, index in
            await realm.keeping.pruneQuietly(in: index)
            // The clock of another machine may have postponed work.
            await realm.worker.bringForwardQuietly(in: index)
        },
    ]

    /// How often a worker checks what must be copied to or from another
    /// cluster. In wall time.
    static let tidyPauseSeconds: Int64 = 10

    /// Completes what is on its way between the home and another cluster.
    func tidy(_ index: Int) async throws {
        try await Realm.bringHouse(
            from: realm.home, to: realm.clusters[index], at: realm.ports.wall.now)
        try await realm.settleArrivals(in: index)
        try await realm.carryAudit(from: index)
    }

    private func mendClocksQuietly() async {
        do {
            try await realm.mendClocks(RequestContext(requestID: "work", actor: "server"))
        } catch {
            guard !realm.isClosed else { return }
            realm.ports.log(
                .warning, "the clocks of families could not be brought up to date", nil,
                ["fault": "\(error)"])
        }
    }

    private func tidyQuietly(_ index: Int) async {
        do { try await tidy(index) } catch {
            guard !realm.isClosed else { return }
            realm.ports.log(
                .warning, "a cluster could not be brought up to date", nil,
                ["cluster": realm.clusters.name(index), "fault": "\(error)"])
        }
    }
}
