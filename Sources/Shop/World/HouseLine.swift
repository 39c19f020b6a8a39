// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire
import Work

/// The context of a commit that changes what is administered. It runs at the
/// home, is audited, and reaches the other clusters before the caller gets its
/// answer. Only ``Realm/house(_:_:_:)`` makes one.
struct HouseLine {
    /// The lock that a change takes.
    enum Lock {
        /// The catalogue's revision, which the commit raises. For everything on
        /// which customers' commits base decisions.
        case catalogue
        /// The clock.
        case clock
        /// Only the rows that are changed.
        case rows
    }

    let writing: any Writing
    /// The wall time, for the audit.
    let wall: Timestamp
    let who: String

    /// Writes the audit entry in the commit that makes the change. `before` is nil
    /// for a subject that is made, `after` for one that is removed. If they are
    /// the same, nothing changed, unless `isChangeForSure`.
    func audit(
        _ deed: String, _ subject: String, before: AuditFields?, after: AuditFields?,
        isChangeForSure: Bool = false
    ) throws {
        try AuditEntry(
            who: who, wall: wall, deed: deed, subject: subject, before: before, after: after,
            isChangeForSure: isChangeForSure
        ).write(writing)
    }
}

extension Realm {
    /// Changes what is administered, behind `lock`. If the closure leaves,
    /// nothing is changed and nothing is copied to other clusters.
    func house<Answer: Sendable>(
        _ lock: HouseLine.Lock, _ context: RequestContext,
        _ body: @escaping @Sendable (HouseLine) throws -> Ending<Answer>
    ) async throws -> Answer {
        let (wall, who) = (ports.wall.now, context.actor)
        let ending = try await home.writeOrLeave { writing in
            switch lock {
            // This is the first statement, so that changes of the same rows
            // wait here.
            case .catalogue: try writing.execute(Statement.Catalogues.bumpRevision, [])
            case .clock: try writing.execute(Statement.Realms.holdClock, [])
            case .rows: break
            }
            return try body(HouseLine(writing: writing, wall: wall, who: who))
        }
        if case .commit = ending {
            if lock != .rows { await bringHouse() }
            await worker.followUp()
        }
        return ending.answer
    }
}
