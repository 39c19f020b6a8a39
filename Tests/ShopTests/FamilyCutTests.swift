// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire
import Synchronization
import TestSupport
import Testing

@testable import Shop
@testable import Work

/// Kills the store before and after every call of a port while a family is made, shares
/// a subscription through three renewals, and stops.
@Suite(.unforgiven, .timeLimit(.minutes(5))) struct FamilyCutTests {
    @Test(arguments: [nil, [TestClusters.far]] as [[String]?])
    func `a store that dies anywhere shares each period once`(far: [String]?) async throws {
        let whole = FamilyStory(nil, far)
        let calls = try await whole.run()
        let told = try await whole.told()
        #expect(calls > 40)
        #expect(told[1] == "newsx,newsx,newsx,news-")
        #expect(told[2] == "SUBSCRIBED/INITIAL_BUY,DID_RENEW,DID_RENEW,DID_RENEW,REVOKE")
        var fired = 0
        let cuts = SeededShare.of(0..<calls, oneIn: TestPlaces.isOnPostgres ? 48 : 24)
        for call in cuts {
            for side in Knife.Side.allCases {
                let story = FamilyStory((call, side), far)
                _ = try await story.run()
                let again = try await story.told()
                #expect(again == told, "\(call) \(side)")
                fired += story.knife.fired
            }
        }
        // Errands run at once, so the last calls of a story are not always the same.
        #expect(fired > cuts.count)
    }
}

private final class FamilyStory: Sendable {
    let knife: Knife
    private let places: TestPlaces
    private let wall = TestWall()
    private let restarts = Mutex<UInt64>(1)
    private let target = TestWall.start.adding(Period(3, .month)).adding(seconds: 5)

    init(_ cut: Knife.Cut?, _ far: [String]?) {
        knife = Knife(cut)
        places = TestPlaces(isOneProcess: true, far: far)
    }

    func run() async throws -> Int {
        let first = try await FamilyWorld(try await world(Knife(nil)))
        try await first.world.realm.catalogue.importCatalogue(
            TestWorld.withSubscriptions(), app: AppDescription(bundleID: TestWorld.bundleID),
            TestWorld.context)
        try await first.begin()
        await first.world.store.close()
        return try await knife.walk(deathsMax: 3) {
            let family = try await FamilyWorld(try await self.world(self.knife))
            let realm = family.world.realm
            if try await realm.clock().now < self.target {
                try await family.add("ben")
                try self.knife.check()
                try await family.world.buy(
                    "news", purchaseID(1), session: try await family.session("ann"))
                _ = try await realm.moveClock(
                    MoveClockRequest(standAt: self.target), TestWorld.context)
                try self.knife.check()
            }
            try await family.work()
            try self.knife.check()
            try await family.room.setSharing(
                try await family.id("ann"), FamilySharingRequest(isSharing: false),
                TestWorld.context)
            try await family.work()
            try self.knife.check()
            await family.world.store.close()
        }
    }

    /// What there is, after the last life has done what is left.
    func told() async throws -> [String] {
        let family = try await FamilyWorld(try await world(Knife(nil)))
        wall.advance(seconds: 60)
        try await family.work()
        #expect(try await family.world.realm.clock().jump == nil)
        try await family.checkMembers()
        let ben = try await family.world.realm.subscriptions.history(of: try await family.id("ben"))
        let told = [
            try await family.shown("ann"), try await family.shown("ben"),
            try await family.told("ben"),
            ben.events.map { "\($0.kind) \($0.date)" }.joined(separator: ","),
            try await family.payloads("ben").map { "\($0.purchaseDate?.milliseconds ?? 0)" }
                .joined(separator: ","),
        ]
        await family.world.store.close()
        return told
    }

    private func world(_ knife: Knife) async throws -> TestWorld {
        let randomness = restarts.withLock { restarts in
            restarts += 1
            return restarts
        }
        var ports = StorePorts(
            places: knife.cutting(places.places), keys: try await TestWorld.keys.value,
            wall: wall.clock, randomness: .seeded(randomness),
            passwordCost: PasswordCost(rounds: 2))
        ports.opensSandboxes = true
        let store = try await Store.open(ports)
        return TestWorld(
            places: places, wall: wall, logged: Logged(), store: store,
            realm: try await store.realm(named: Store.defaultRealm))
    }
}
