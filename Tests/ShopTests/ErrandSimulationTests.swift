// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import StoreWire
import Synchronization
import TestSupport
import Testing

@testable import Shop
@testable import Work

/// Three workers on one database that sleep past their leases, die with what
/// they hold, and meet servers that fail; one thread, virtual time.
@Suite(.unforgiven, .timeLimit(.minutes(5)))
struct ErrandSimulationTests {
    @Test(arguments: Seeds.all)
    func `every notification is delivered, recorded once and always the same`(
        seed: UInt64
    ) async throws {
        var random = SeededGenerator(seed)
        let courier = MoodyCourier(seed: seed)
        let world = try await TestWorld.open(courier: courier)
        try await world.realm.catalogue.setNotificationURL(
            TestWorld.url, bundleID: TestWorld.bundleID.value, TestWorld.context)
        var held: [[Errand]] = [[], [], []]
        var sold = 0

        for _ in 0..<120 {
            let worker = Int.random(in: 0..<held.count, using: &random)
            switch Int.random(in: 0..<10, using: &random) {
            case 0...2:
                sold += 1
                try await world.buy(purchaseID(sold))
            case 3...4: held[worker] += try await world.realm.claim(RunningLanes()).errands
            case 5...7:
                guard !held[worker].isEmpty else { continue }
                await world.realm.worker.run(held[worker].removeFirst())
            case 8: held[worker] = []
            default: world.wall.advance(seconds: Int64.random(in: 1...40, using: &random))
            }
        }
        for worker in held { for errand in worker { await world.realm.worker.run(errand) } }
        world.wall.advance(seconds: Errands.leaseMilliseconds / 1000)
        try await world.realm.keeping.workOnce()

        let told = Dictionary(grouping: courier.parcels, by: \.id)
        #expect(told.count == sold)
        for parcels in told.values { #expect(Set(parcels).count == 1) }
        // A sandbox's first attempt that was recorded is its last.
        #expect(try await world.attemptCount() == Int64(sold))
        #expect(try await !world.realm.keeping.owesWork())
    }
}

/// Answers by lot.
private final class MoodyCourier: Courier {
    private let state: Mutex<(random: SeededGenerator, parcels: [Parcel])>

    init(seed: UInt64) {
        state = Mutex((SeededGenerator(seed &+ 1), []))
    }

    var parcels: [Parcel] { state.withLock { $0.parcels } }

    func deliver(_ parcel: Parcel) async -> Delivery {
        state.withLock { state in
            state.parcels.append(parcel)
            switch Int.random(in: 0..<4, using: &state.random) {
            case 0: return Delivery(.timedOut)
            case 1: return Delivery(status: 500)
            default: return Delivery(status: 200)
            }
        }
    }
}
