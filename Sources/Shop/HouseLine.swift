// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire

/// The turn of a commit that changes what is administered: it is the home's,
/// is audited, and reaches the other clusters before the caller has its answer.
/// Only ``Realm/house(_:_:_:)`` makes one.
struct HouseLine {
    /// What a change waits for.
    enum Lock {
        /// The catalogue's revision, which the commit counts up: for whatever
        /// customers' commits decide by.
        case catalogue
        /// The clock.
        case clock
        /// Nothing but the rows that are changed.
        case rows
    }

    let writing: any Writing
    /// Wall time, of the audit.
    let wall: Timestamp
    let who: String

    /// Writes who did what, in the commit that does it.
    func audit(_ deed: String, _ subject: String, before: String?, after: String?) throws {
        try AuditEntry(
            who: who, wall: wall, deed: deed, subject: subject, before: before, after: after
        ).write(writing)
    }
}

extension Realm {
    /// Changes what is administered, behind `lock`. A change that is left changed
    /// nothing and is brought nowhere.
    func house<Answer: Sendable>(
        _ lock: HouseLine.Lock, _ context: RequestContext,
        _ body: @escaping @Sendable (HouseLine) throws -> Ending<Answer>
    ) async throws -> Answer {
        let (wall, who) = (ports.wall.now, context.actor)
        let ending = try await home.writeOrLeave { writing in
            switch lock {
            // The first statement: whoever changes the same waits here.
            case .catalogue: try writing.execute(Statement.Catalogues.bumpRevision, [])
            case .clock: _ = try Self.holdClock(writing)
            case .rows: break
            }
            return try body(HouseLine(writing: writing, wall: wall, who: who))
        }
        if case .commit = ending, lock != .rows { await bringHouse() }
        return ending.answer
    }
}
