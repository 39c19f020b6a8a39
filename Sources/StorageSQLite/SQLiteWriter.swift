// SPDX-License-Identifier: Apache-2.0

import GRDB
import Storage

/// Runs on the writing thread. Writes that wait during a commit share the next
/// one. There is no timer that delays a write. The more writes wait, the fewer
/// syncs each costs.
struct SQLiteWriter {
    /// The most writes in one commit, so that the first need not wait for the
    /// statements of a hundred others.
    static let groupMax = 64
    /// How long the closures of a group may run. After that the group commits
    /// without those that have not begun.
    static let groupMilliseconds: Int64 = 20

    let connection: SQLiteConnection
    let options: SQLiteOptions
    /// Nil in memory, which has no log.
    let mover: LogMover?

    /// Serves jobs until the lane is closed.
    func serve(_ lane: Lane) {
        while true {
            let jobs = lane.next(atMost: Self.groupMax)
            guard !jobs.isEmpty else { return }
            var rest = jobs[...]
            while let first = rest.first {
                let alike = rest.prefix { $0.isReading == first.isReading }
                if first.isReading {
                    for job in alike { Self.read(job, connection, options.observer) }
                    rest = rest.dropFirst(alike.count)
                } else {
                    rest = rest.dropFirst(commit(alike))
                    if !rest.isEmpty {
                        lane.putBack(rest)
                        rest = []
                    }
                }
            }
            tidy(lane)
        }
    }

    /// Runs one closure that only reads, in a transaction of its own.
    static func read(
        _ job: any Job, _ connection: SQLiteConnection, _ observer: (any StorageObserver)?
    ) {
        do {
            try connection.beginReading()
            _ = job.run(SQLiteTransaction(connection, observer, isReading: true))
            try connection.endReading()
            job.answer()
        } catch {
            connection.rollBack()
            job.fail(job.failure ?? error)
        }
    }

    /// Commits as many of the first jobs as fit. Once the commit is durable, it
    /// answers all of them, whatever their outcome. Returns how many jobs these
    /// were.
    private func commit(_ jobs: ArraySlice<any Job>) -> Int {
        do {
            try connection.run(Verb.begin)
        } catch {
            for job in jobs { job.fail(error) }
            return jobs.count
        }
        let isAlone = jobs.count == 1
        let started = options.milliseconds?() ?? 0
        var taken: [any Job] = []
        for job in jobs {
            if !taken.isEmpty, isLate(since: started) { break }
            taken.append(job)
            runs(job, isAlone: isAlone)
            // The engine rolls everything back by itself if the disk is full or
            // fails.
            guard connection.isInTransaction else { break }
        }
        guard connection.isInTransaction else { return dissolve(taken) }
        return end(taken)
    }

    private func isLate(since started: Int64) -> Bool {
        guard let now = options.milliseconds?() else { return false }
        return now - started >= Self.groupMilliseconds
    }

    private func runs(_ job: any Job, isAlone: Bool) {
        if isAlone, !options.runsWritesTwice {
            _ = job.run(SQLiteTransaction(connection, options.observer))
            return
        }
        guard marks(Verb.save) else { return }
        if options.runsWritesTwice, !rehearse(job) { return }
        let holds = job.run(SQLiteTransaction(connection, options.observer))
        guard connection.isInTransaction, holds || marks(Verb.undo) else { return }
        _ = marks(Verb.keep)
    }

    private func rehearse(_ job: any Job) -> Bool {
        guard marks(Verb.rehearse) else { return false }
        _ = job.run(SQLiteTransaction(connection, nil))
        return connection.isInTransaction && marks(Verb.unrehearse) && marks(Verb.rehearsed)
    }

    /// Sets, undoes or releases a savepoint. If that fails, it is unknown what
    /// a commit would include, so the whole transaction is rolled back.
    private func marks(_ verb: PortStatement) -> Bool {
        do {
            try connection.run(verb)
            return true
        } catch {
            connection.rollBack()
            return false
        }
    }

    private func end(_ jobs: [any Job]) -> Int {
        let kept = jobs.filter { $0.failure == nil }
        if kept.isEmpty {
            connection.rollBack()
            for job in jobs { job.answer() }
            return jobs.count
        }
        do {
            try connection.run(Verb.commit, isCommitting: true)
        } catch {
            connection.rollBack()
            // One job's deferred constraint failed, or the disk had no room for
            // all of them. The others are not to blame, and certainly nothing
            // was committed.
            if [.constraint, .full].contains(error.code), jobs.count > 1 { return dissolve(jobs) }
            // Jobs that threw also fail: they may have seen what another job
            // wrote in this commit, and that is gone.
            for job in jobs { job.fail(error) }
            return jobs.count
        }
        options.observer?.didCommit()
        for job in jobs { job.answer() }
        return jobs.count
    }

    /// Nothing of a group was committed. Runs each job again, in its own
    /// commit.
    private func dissolve(_ jobs: [any Job]) -> Int {
        guard jobs.count > 1 else {
            for job in jobs {
                job.fail(
                    job.failure ?? StorageFault(.engine, "the engine gave a transaction up"))
            }
            return jobs.count
        }
        for job in jobs { _ = commit([job]) }
        return jobs.count
    }

    /// Keeps the log short by moving it into the database.
    private func tidy(_ lane: Lane) {
        guard let mover, connection.logPages > 0 else { return }
        let advice = mover.advise(
            pages: connection.logPages, isNobodyWaiting: lane.waitingCount == 0)
        if advice == .moveNow { connection.checkpoint() }
    }
}
