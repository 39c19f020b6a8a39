// SPDX-License-Identifier: Apache-2.0

import Commerce
import StoreWire
import Testing

@testable import Shop

/// How many requests a merchant's server may make.
@Suite(.timeLimit(.minutes(5))) struct MerchantLimitTests {
    private let address = "GET /inApps/v1/subscriptions/{}"

    @Test func `a sandbox has no limit until one is switched on`() async throws {
        let world = try await TestWorld.open()
        let (room, context) = (world.realm.faults, TestWorld.context)
        func ask(_ times: Int, _ address: String) async throws -> Timestamp? {
            let merchant = try await world.realm.merchant.admit(
                bearer: try await world.bearer())
            for _ in 0..<times {
                do { try merchant.count(address, .one) } catch let refusal as AppleRefusal {
                    #expect(refusal.status == 429)
                    #expect(refusal.response == .rateLimitExceeded)
                    return refusal.retryAfter
                }
            }
            return nil
        }

        let before = try await ask(1000, address)
        _ = try await room.set("rate-limits", SetFaultRequest(value: "3"), context)
        let within = try await ask(3, address)
        let over = try await ask(1, address)
        let elsewhere = try await ask(3, "GET /inApps/v2/history/{}")
        world.wall.advance(seconds: 3600)
        let later = try await ask(3, address)
        _ = try await room.set("rate-limits", SetFaultRequest(value: "apple"), context)
        world.wall.advance(seconds: 3600)
        let apple = try await (ask(360, address), ask(1, address))
        try await room.clear("rate-limits", context)
        let after = try await ask(1000, address)

        #expect(before == nil && within == nil && elsewhere == nil && later == nil && after == nil)
        let hour = TestWall.start.milliseconds / 3_600_000 + 1
        #expect(over?.milliseconds == hour * 3_600_000, "the start of the next hour")
        #expect(apple.0 == nil && apple.1 != nil)
    }

    @Test func `production has Apple's limits`() async throws {
        let world = try await TestWorld.open(realm: "live", environment: .production)
        let merchant = try await world.realm.merchant.admit(bearer: try await world.bearer())
        for _ in 0..<3600 { try merchant.count(address, .one) }
        let code = try await appleError { try merchant.count(address, .one) }
        #expect(code == 4_290_000)
        let refused = try await refusal {
            try await world.realm.faults.set(
                "rate-limits", SetFaultRequest(value: "3"), TestWorld.context)
        }
        #expect(refused.error.code == "sandboxOnly")
    }

    @Test func `a failure is set once, listed and audited`() async throws {
        let world = try await TestWorld.open()
        let (room, context) = (world.realm.faults, TestWorld.context)
        for _ in 0...1 {
            _ = try await room.set(
                "notifications", SetFaultRequest(value: "reorder,lose"), context)
        }
        #expect(
            try await room.list().faults == [
                FaultRecord(name: "notifications", value: "lose,reorder")
            ])
        try await room.clear("notifications", context)
        try await room.clear("notifications", context)
        #expect(try await room.list().faults.isEmpty)
        let deeds = try await world.realm.auditEntries().entries.map(\.deed)
            .filter { $0.hasPrefix("fault.") }
        #expect(deeds == ["fault.set", "fault.clear"])
        for (name, value, code) in [
            ("moon", "1", "faultUnknown"), ("notifications", "moon", "faultInvalid"),
        ] {
            let refused = try await refusal {
                try await room.set(name, SetFaultRequest(value: value), context)
            }
            #expect(refused.error.code == code)
        }
    }
}
