// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire
import Testing

@testable import Shop
@testable import Work

/// What members hear of the purchaser's choices where one errand does for several commits,
/// and where places, clocks or snapshots change meanwhile.
@Suite(.timeLimit(.minutes(5))) struct FamilyNewsTests {
    private static let off = "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED"

    @Test(arguments: ["leave", "dissolve", "stop", "refund", "revoke"])
    func `what was chosen before the end is announced before it`(command: String) async throws {
        let family = try await FamilyWorld()
        try await family.run("join")
        try await family.run("buy:news")

        try await family.start("off")
        try await family.run(command)

        #expect(try await family.told("ben") == "SUBSCRIBED/INITIAL_BUY,\(Self.off),REVOKE")
    }

    @Test func `what was chosen before the joining is not announced, also where time stands`()
        async throws
    {
        let family = try await FamilyWorld()
        try await stand(family)
        for command in ["buy:news", "off", "on", "off", "join"] {
            try await family.run(command)
        }
        #expect(try await family.told("ben") == "SUBSCRIBED/INITIAL_BUY")

        for command in ["leave", "on", "join"] { try await family.run(command) }
        #expect(
            try await family.told("ben")
                == "SUBSCRIBED/INITIAL_BUY,REVOKE,SUBSCRIBED/RESUBSCRIBE")

        try await family.run("off")
        #expect(try await family.told("ben").hasSuffix("RESUBSCRIBE,\(Self.off)"))
    }

    @Test func `a choice is announced also if the clock was before the joining`() async throws {
        let family = try await FamilyWorld()
        let realm = family.world.realm
        try await family.run("buy:news")
        let bought = try await realm.clock().now
        try await family.advance("P10D")
        try await family.run("join")

        try await stand(family, at: bought.adding(milliseconds: 86_400_000))
        try await family.start("off")
        try await stand(family, at: bought.adding(milliseconds: 25 * 86_400_000))
        try await family.work()

        #expect(try await family.told("ben") == "SUBSCRIBED/INITIAL_BUY,\(Self.off)")
    }

    @Test func `what was read before a snapshot was loaded is not written after it`()
        async throws
    {
        let family = try await FamilyWorld()
        let realm = family.world.realm
        guard realm.isOneCluster else { return }
        try await family.run("join")
        try await family.run("buy:news")
        _ = try await realm.keeping.saveSnapshot(
            SaveSnapshotRequest(name: "one"), TestWorld.context)
        for command in ["off", "buy:pro"] { try await family.start(command) }
        let (ann, ben) = (try await number("ann", family), try await number("ben", family))
        let known = try await realm.read(of: ben) {
            try FamilyMemberRows(ben, from: ann, $0)
        }
        let source = try await FamilySource(from: ann, to: ben, after: known, in: realm)
        let transaction = try await realm.newNumber(.transaction, bucket: ben.bucket)

        _ = try await realm.keeping.loadSnapshot("one", TestWorld.context)
        let commit = FamilyCommit(
            source: source, numbers: [transaction], shelf: try await realm.loadShelf(for: ben)
        ) { realm.uuid(for: $0) }
        let ending = try await realm.lineOrLeave(of: ben) { try commit.write($0) }

        guard case .leave = ending else {
            Issue.record("it was written")
            return
        }
        try await family.work()
        #expect(try await family.shown("ben") == "news")
        try await family.run("off")
        #expect(try await family.told("ben") == "SUBSCRIBED/INITIAL_BUY,\(Self.off)")
    }

    /// The clock stands still. At no instant: at the present one.
    private func stand(_ family: FamilyWorld, at instant: Timestamp? = nil) async throws {
        let realm = family.world.realm
        let now = try await realm.clock().now
        _ = try await realm.moveClock(
            MoveClockRequest(standAt: instant ?? now), TestWorld.context)
    }

    private func number(_ name: String, _ family: FamilyWorld) async throws -> CustomerID {
        CustomerID(try #require(Int64(try await family.id(name))))
    }
}
