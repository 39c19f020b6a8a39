// SPDX-License-Identifier: Apache-2.0

package import Commerce
import Storage
package import Work

extension Realm {
    /// Asks the other clusters, concurrently.
    package func farClocks(
        _ clock: RealmClock, of id: ClockID, asksAway: Bool
    ) async -> FarClocks? {
        if !asksAway, clusters.others.contains(where: \.isAway) { return nil }
        return await withTaskGroup(of: (String, isAway: Bool, ClockJump?).self) { group in
            for cluster in clusters.others {
                group.addTask {
                    let answer = try? await cluster.read { reading in
                        (
                            try Self.clock(reading, of: id),
                            try ClockJump.current(reading, of: id)
                        )
                    }
                    return (cluster.name, answer?.0 != clock, answer?.1)
                }
            }
            var found = FarClocks()
            for await (name, isAway, jump) in group {
                if isAway { found.away.append(name) }
                guard let jump else { continue }
                if found.jump.map({ jump.reached < $0.reached }) ?? true { found.jump = jump }
            }
            found.away.sort()
            return found
        }
    }
}
