// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire
import Work

/// A jump that is stopped ends at the date of the last piece of its work that was begun on
/// any cluster. So every other cluster is halted first, each at its own date; then the home's
/// clock is moved to the latest of them, which the copies bring to the others.
extension Realm {
    /// Halts a jump on the other clusters. Returns the latest date that they have come to.
    /// Nil if there is nothing to halt. Throws if a cluster does not answer.
    func haltJump(
        _ id: ClockID, _ request: MoveClockRequest
    ) async throws -> Timestamp? {
        guard request.stopsJump == true, !clusters.isOne,
            try await readHouse({ try ClockJump.current($0, of: id) }) != nil
        else { return nil }
        let wall = ports.wall.now
        var through: Timestamp?
        for cluster in clusters.others {
            let far = try await cluster.writeOrLeave { try Self.halt(id, wall: wall, $0) }
            through = [through, far.answer].compactMap(\.self).max()
        }
        return through
    }

    /// Sets this cluster's copy of the clock back to the date that the jump has come to, and
    /// marks the copy as outdated: if the process dies before the home's clock is moved, a
    /// worker copies that clock again, and the jump goes on.
    private static func halt(
        _ id: ClockID, wall: Timestamp, _ writing: any Writing
    ) throws -> Ending<Timestamp?> {
        guard let row = try clockRow(writing, of: id) else { return .leave(nil) }
        let now = row.clock.now(wall: wall)
        guard let jump = try ClockJump.hold(writing, of: id) else {
            // It has done all of the jump's work, or was halted before.
            let last = try writing.first(
                Statement.Clocks.lastTimed,
                [.integer(now.milliseconds), .integer(id.value)])
            return .leave(try last?.optionalInteger("last_timed").map(Timestamp.init))
        }
        let through = min(jump.through, now)
        try putClock(id, row.clock.moved(to: through, wall: wall), jump: row.jump, writing)
        try ClockJump.note(of: id, from: now, to: through, writing)
        try writing.execute(Statement.Houses.outdate, [])
        return .commit(through)
    }
}
