// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import Work

extension Realm {
    /// Completes what a process was doing when it died: each family has its organiser's
    /// clock. A clock that nobody has is removed if no other process may be about to give
    /// it to somebody.
    func mendClocks(_ context: RequestContext) async throws {
        let clocks = try await readHouse { try Realm.customerClocks($0).keys }
        if clocks.isEmpty { return }
        let organisers = try await readHouse { reading in
            try reading.query(Statement.Families.organisers, []).map {
                CustomerID(try $0.integer("organiser_id"))
            }
        }
        try await changeClockOwners(context) { left in
            for organiser in organisers { try await follow(organiser, [], &left, context) }
            if isAlone { left.formUnion(clocks) }
        }
    }
}
