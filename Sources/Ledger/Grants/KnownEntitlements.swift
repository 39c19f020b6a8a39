// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
package import StoreWire
import Synchronization

/// What one state of the books says about an account's entitlements. It is true as long as
/// the account's originals are those of its marks. A class, because answers share it and the
/// last of them is kept.
final class KnownEntitlements: Sendable {
    /// Those of one environment.
    struct Part: Sendable {
        let marks: OriginalMarks
        let timelines: [EntitlementTimeline]
        /// In a sandbox, the newest signature. Its store may have moved its clock ahead.
        let signedAt: Timestamp?

        /// The time by which they are judged.
        fileprivate func time(_ wall: Timestamp) -> Timestamp {
            signedAt.map { max(wall, $0) } ?? wall
        }

        /// The time around an instant in which nothing begins or ends.
        fileprivate func calm(around now: Timestamp) -> (since: Timestamp?, until: Timestamp?) {
            let changes = timelines.flatMap { timeline in
                timeline.spans.flatMap { [$0.start, $0.until].compactMap(\.self) }
            }
            return (changes.filter { $0 <= now }.max(), changes.filter { $0 > now }.min())
        }
    }

    let account: String
    let environment: Environment
    /// Of a tester, production's come first.
    let parts: [Part]
    let readAt: Timestamp
    private let last = Mutex<(answer: EntitlementsAnswer, calm: [Calm])?>(nil)

    private typealias Calm = (since: Timestamp?, until: Timestamp?)

    init(
        account: String, environment: Environment, parts: [Part], readAt: Timestamp
    ) {
        (self.account, self.environment) = (account, environment)
        (self.parts, self.readAt) = (parts, readAt)
    }

    /// The timelines, each with the time by which it is judged.
    func judged(at wall: Timestamp) -> [JudgedTimeline] {
        parts.flatMap { part in
            part.timelines.map { JudgedTimeline(timeline: $0, now: part.time(wall)) }
        }
    }

    /// The answer changes only when something begins or ends.
    func answer(at wall: Timestamp) -> EntitlementsAnswer {
        let times = parts.map { $0.time(wall) }
        if let known = last.withLock({ $0 }),
            zip(times, known.calm).allSatisfy({ time, calm in
                calm.since.map { $0 <= time } ?? true && calm.until.map { time < $0 } ?? true
            })
        {
            return known.answer
        }
        let answer = EntitlementsAnswer(
            AccountEntitlements(
                account: account, environment: environment.rawValue,
                entitlements: judged(at: wall).wires))
        let calm = zip(parts, times).map { $0.calm(around: $1) }
        last.withLock { $0 = (answer, calm) }
        return answer
    }
}

/// The originals in which an account has a part, each with its revision.
struct OriginalMarks: Hashable, Sendable {
    private struct Mark: Hashable {
        let original: String
        let revision: Int64
    }

    private let marks: Set<Mark>

    var count: Int { marks.count }

    /// Rows without an original are left out.
    init(_ rows: [Row]) throws {
        var marks: Set<Mark> = []
        for row in rows {
            guard let original = try row.optionalText("original") else { continue }
            marks.insert(Mark(original: original, revision: try row.integer("revision")))
        }
        self.marks = marks
    }

    /// Whether each original of these facts has a mark.
    func cover(_ facts: [EntitlementFact]) -> Bool {
        Set(facts.map(\.original)).isSubset(of: marks.map(\.original))
    }
}

/// What an account may use, and what a server has made of it.
package final class EntitlementsAnswer: Sendable {
    /// An answer as it is sent.
    package struct Text: Sendable {
        package let bytes: [UInt8]
        package let tag: String

        package init(bytes: [UInt8], tag: String) {
            (self.bytes, self.tag) = (bytes, tag)
        }
    }

    package let entitlements: AccountEntitlements
    private let text = Mutex<Text?>(nil)

    init(_ entitlements: AccountEntitlements) {
        self.entitlements = entitlements
    }

    /// The same text for every request that gets this answer.
    package func text(_ make: (AccountEntitlements) throws -> Text) rethrows -> Text {
        if let text = text.withLock({ $0 }) { return text }
        let made = try make(entitlements)
        text.withLock { $0 = made }
        return made
    }
}

/// What this process has read of the accounts that are asked about most. Nothing in it is
/// used before the database has said that it is still true. A class, because all calls share
/// it.
final class EntitlementMemo: Sendable {
    private struct Question: Hashable {
        let account: AccountName
        let environment: Environment
    }

    private struct Pages {
        var young: [Question: KnownEntitlements] = [:]
        /// The sum of the sizes of all that came into `young`.
        var size = 0
        /// What was read before those. Forgotten when `young` is full.
        var old: [Question: KnownEntitlements] = [:]
    }

    /// The size of a page, for 10,000 accounts with two originals each. Two pages have about
    /// 70 MB.
    private static let pageSize = 60_000
    /// The most of one account. What is larger is read each time.
    private static let sizeMax = 1_000
    /// How long something is known: one minute. A server of a version that did not write
    /// marks may still work on the same database.
    private static let milliseconds: Int64 = 60_000

    private let pages = Mutex(Pages())

    /// Returns what is known if it was read from originals with these marks.
    func find(
        _ account: String, _ environment: Environment, _ marks: [OriginalMarks],
        at wall: Timestamp
    ) -> KnownEntitlements? {
        let question = Question(account: AccountName(account), environment: environment)
        let known = pages.withLock { $0.young[question] ?? $0.old[question] }
        guard let known, (0..<Self.milliseconds).contains(wall.milliseconds(since: known.readAt)),
            known.parts.map(\.marks) == marks
        else { return nil }
        return known
    }

    func keep(_ known: KnownEntitlements) {
        let size = known.parts.reduce(2) { size, part in
            size + part.marks.count + part.timelines.reduce(0) { $0 + $1.spans.count }
        }
        guard size <= Self.sizeMax else { return }
        let question = Question(
            account: AccountName(known.account), environment: known.environment)
        // What is forgotten is freed after the lock.
        let forgotten = pages.withLock { pages -> [Question: KnownEntitlements] in
            var forgotten: [Question: KnownEntitlements] = [:]
            if pages.size + size > Self.pageSize {
                swap(&forgotten, &pages.old)
                swap(&pages.old, &pages.young)
                pages.size = 0
            }
            pages.young[question] = known
            pages.size += size
            return forgotten
        }
        _ = consume forgotten
    }
}
