// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoragePostgres
import StoreWire
import TestSupport
import Testing

@testable import Shop

/// Purchases whose line to PostgreSQL is cut at each message: asked again
/// under the same id they are sold and paid once.
@Suite(.onPostgresAlready, .unforgiven, .timeLimit(.minutes(15))) struct PostgresCutTests {
    private func rig(
        _ processor: ScriptedProcessor? = nil
    ) async throws -> (world: TestWorld, proxy: CuttingProxy, session: DeviceSession) {
        let proxy = try CuttingProxy(to: try await PostgresCluster.shared())
        let places = TestPlaces(server: TestPlaces.Server(conninfo: proxy.conninfo))
        let world = try await TestWorld.open(places: places, processor: processor)
        return (world, proxy, try await world.session())
    }

    /// Buys with every message cut that `places` names, and again after it;
    /// counts who was told that the outcome is not known.
    private func buyUnderCuts(
        _ fate: CuttingProxy.Fate, every step: Int, _ processor: ScriptedProcessor? = nil
    ) async throws -> (bought: Int, unknown: Int, world: TestWorld) {
        let (world, proxy, session) = try await rig(processor)
        try await world.buy("credits.5", purchaseID(1), session: session, isIndependent: false)
        try await world.realm.finishQuietly("credits.5", of: session.customer, before: "none")
        proxy.pass()
        try await world.buy("credits.5", purchaseID(2), session: session, isIndependent: false)
        let messages = proxy.messages
        #expect(messages > 20)
        var (bought, unknown) = (2, 0)
        for number in SeededShare.of(1..<(messages + 1), oneIn: step) {
            bought += 1
            let id = purchaseID(bought)
            try await world.realm.finishQuietly("credits.5", of: session.customer, before: "none")
            proxy.cut(message: number, fate)
            do {
                try await world.buy("credits.5", id, session: session, isIndependent: false)
            } catch let fault
                as StorageFault
            {
                #expect(fault.code == .outcomeUnknown, "message \(number): \(fault)")
                unknown += 1
            }
            proxy.pass()
            var again = try await world.buy("credits.5", id, session: session, isIndependent: false)
            if again.state == "authorising" {
                // Whoever asked the processor held the errand until now.
                world.wall.advance(seconds: 60)
                again = try await world.buy("credits.5", id, session: session, isIndependent: false)
            }
            #expect(again.state == "sold", "message \(number)")
        }
        return (bought, unknown, world)
    }

    private func sold(_ world: TestWorld) async throws -> Int64 {
        let count = Statement("count", "SELECT count(*) AS n FROM transactions")
        return try await world.realm.storage.read { try $0.first(count)?.integer("n") ?? -1 }
    }

    @Test(arguments: [(CuttingProxy.Fate.cutBefore, 3), (.cutDuring, 3), (.cutAfter, 3)])
    func `a purchase cut anywhere is sold once`(
        fate: CuttingProxy.Fate, step: Int
    ) async throws {
        let (bought, unknown, world) = try await buyUnderCuts(fate, every: step)

        #expect(try await sold(world) == Int64(bought))
        #expect(unknown > 0)
    }

    @Test func `a purchase through a processor cut anywhere is paid once`() async throws {
        let processor = ScriptedProcessor([])

        let (bought, _, world) = try await buyUnderCuts(.cutBefore, every: 3, processor)

        #expect(try await sold(world) == Int64(bought))
        #expect(processor.charged.count == bought)
    }
}
