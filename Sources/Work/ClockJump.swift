// SPDX-License-Identifier: Apache-2.0

package import Commerce
package import Storage

/// A jump of a clock whose due work a database has still to do. The
/// commit that moves the clock writes its row, and the worker that finds no due
/// work left removes it: if a process dies in between, the next one completes both.
/// The home's row stands for the whole realm, and is removed last.
/// Nothing decides at the target before the work up to it is done, because each
/// customer's line does the customer's own work first.
package struct ClockJump: Hashable, Sendable {
    package let clock: ClockID
    package let target: Timestamp
    /// All work that was due before this instant is done.
    package let reached: Timestamp
    /// No work that was due after this instant was begun, except for customers whose
    /// lines were asked for meanwhile. A jump can end here early, and nothing else then
    /// happened in the clock's future.
    package let through: Timestamp
    /// Whether a worker has tried every piece of its work. Until then, nothing is
    /// sent that the jump's work owes, because an earlier event may still owe
    /// something. What is left then has failed, and holds nothing up any more.
    package let isPassed: Bool

    private var key: SQLValue { .integer(clock.value) }

    package init(
        of clock: ClockID = .realm, target: Timestamp, reached: Timestamp,
        through: Timestamp? = nil, isPassed: Bool = false
    ) {
        self.clock = clock
        self.target = target
        self.reached = reached
        self.through = through ?? reached
        self.isPassed = isPassed
    }

    /// The jump of a clock that is under way in a database; nil if there is none.
    package static func current(
        _ reading: any Reading, of clock: ClockID = .realm
    ) throws -> ClockJump? {
        try reading.first(Statement.Jumps.one, [.integer(clock.value)])
            .map { try ClockJump($0, of: clock) }
    }

    /// The same, and until the commit no work after `through` is begun.
    package static func hold(
        _ writing: any Writing, of clock: ClockID
    ) throws -> ClockJump? {
        try writing.first(Statement.Jumps.hold, [.integer(clock.value)])
            .map { try ClockJump($0, of: clock) }
    }

    private init(_ row: Row, of clock: ClockID) throws {
        self.init(
            of: clock, target: Timestamp(milliseconds: try row.integer("target")),
            reached: Timestamp(milliseconds: try row.integer("reached")),
            through: Timestamp(milliseconds: try row.integer("through")),
            isPassed: try row.integer("is_passed") == 1)
    }

    /// Records that the clock was moved. A jump that is under way is continued to
    /// the new target, or ends if the clock went back behind what it has reached.
    package static func note(
        of clock: ClockID = .realm, from: Timestamp, to: Timestamp, _ writing: any Writing
    ) throws {
        let (begun, key) = (try hold(writing, of: clock), SQLValue.integer(clock.value))
        let start = min(begun?.reached ?? from, from)
        if to > start {
            try writing.execute(
                Statement.Jumps.put,
                WorkSchema.jumps.row([
                    "clock_id": key, "target": .integer(to.milliseconds),
                    "reached": .integer(start.milliseconds),
                    "through": .integer((begun?.through ?? start).milliseconds),
                    "is_passed": .integer(0),
                ]))
        } else if begun != nil {
            try writing.execute(Statement.Jumps.remove, [key])
        }
    }

    /// Records how far the work has come, and the date of the last piece that is
    /// begun next. Returns false, and does nothing, if the clock was moved again: then
    /// nothing may be begun before the jump is read anew.
    func advance(
        to instant: Timestamp, beginning last: Timestamp, _ writing: any Writing
    ) throws -> Bool {
        try writing.first(
            Statement.Jumps.setReached,
            [
                key, .integer(target.milliseconds), .integer(instant.milliseconds),
                .integer(last.milliseconds),
            ]) != nil
    }

    /// Records that every piece of its work was tried. Does nothing if the clock was
    /// moved again.
    func pass(_ writing: any Writing) throws {
        try writing.execute(Statement.Jumps.pass, [key, .integer(target.milliseconds)])
    }

    /// Ends it. Does nothing if the clock was moved again, or if work of a later
    /// jump to the same instant is left.
    func end(_ writing: any Writing) throws {
        try writing.execute(
            Statement.Jumps.end, [key, .integer(target.milliseconds)])
    }
}
