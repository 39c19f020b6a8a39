// SPDX-License-Identifier: Apache-2.0

package import Commerce
import Storage

/// Detects whether the machine's clock was set back between two checks.
package struct WallWatch: Sendable {
    /// A well-kept clock may be corrected by less than this.
    package static let slackMilliseconds: Int64 = 30_000

    private var last: Timestamp

    init(_ wall: Timestamp) { last = wall }

    mutating func hasGoneBack(_ wall: Timestamp) -> Bool {
        defer { last = wall }
        return wall < last.adding(milliseconds: -Self.slackMilliseconds)
    }
}

/// Corrects dates that were set by a clock that ran ahead and was then set
/// back.
extension Worker {
    /// Makes work due at once that is postponed further than possible: an
    /// errand is never postponed by more than the pause after its last attempt,
    /// and inner work by more than its kind allows. Returns how many rows of
    /// work it moved.
    @discardableResult
    package func bringForward(in index: Int) async throws -> Int {
        let clocks = try await context.databases[index].read {
            try Context.customerClocks($0).keys
        }
        var count = try await bringForward(of: .realm, in: index)
        for clock in clocks.sorted(by: { $0.value < $1.value }) {
            count += try await bringForward(of: clock, in: index)
        }
        return count
    }

    /// The same for what falls due by one clock.
    @discardableResult
    package func bringForward(of id: ClockID, in index: Int) async throws -> Int {
        let (wall, storage) = (context.wall, context.databases[index])
        let limits = context.errandHandlers.values.flatMap { handler in
            pauseLimits(handler.kind, handler.retries(in: context))
        }
        let works = context.dueWorkHandlers.values
        let key = SQLValue.integer(id.value)
        let count = try await storage.write { writing in
            guard let now = try Context.clock(writing, of: id)?.now(wall: wall) else { return 0 }
            let slack = now.adding(milliseconds: WallWatch.slackMilliseconds)
            var count = 0
            for limit in limits {
                count += try writing.query(
                    Statement.Errands.bringForward,
                    [
                        .text(limit.kind), .integer(limit.attempts.lowerBound),
                        .integer(limit.attempts.upperBound),
                        .integer(slack.adding(milliseconds: limit.pause).milliseconds),
                        .integer(now.milliseconds), .text(Errands.lanesInOrder(of: id)), key,
                    ]
                ).count
            }
            for work in works {
                try work.bringForward(of: id, beyond: slack, to: now, writing)
                let (kind, longest) = (work.kind, work.longestMilliseconds)
                count += try writing.query(
                    Statement.DueWorks.bringForward,
                    [
                        .text(kind), .integer(slack.adding(milliseconds: longest).milliseconds),
                        .integer(now.adding(milliseconds: longest).milliseconds), key,
                    ]
                ).count
            }
            return count
        }
        if count > 0 {
            context.report(
                .warning, "a clock was set back: what it had put off is due again",
                ["rows": "\(count)", "cluster": context.name(ofDatabase: index)])
        }
        return count
    }

    /// For a worker: like ``bringForward(in:)``, but logs errors instead of
    /// throwing.
    package func bringForwardQuietly(of clock: ClockID? = nil, in index: Int) async {
        do {
            if let clock {
                try await bringForward(of: clock, in: index)
            } else {
                try await bringForward(in: index)
            }
        } catch {
            guard !context.bells[index].isClosed else { return }
            context.report(
                .warning, "what a clock has put off was not looked at",
                ["cluster": context.name(ofDatabase: index), "fault": "\(error)"])
        }
    }
}

/// The longest pause before the next attempt, by the number of attempts.
private struct PauseLimit: Sendable {
    let kind: String
    let attempts: ClosedRange<Int64>
    let pause: Int64
}

private func pauseLimits(_ kind: String, _ retries: RetryTimetable) -> [PauseLimit] {
    var limits = [PauseLimit(kind: kind, attempts: 0...0, pause: 0)]
    for (index, pause) in retries.pauses.enumerated() {
        let attempt = Int64(index + 1)
        let isLast = attempt == Int64(retries.pauses.count)
        limits.append(
            PauseLimit(
                kind: kind, attempts: attempt...(isLast ? Int64.max : attempt), pause: pause))
    }
    return limits
}
