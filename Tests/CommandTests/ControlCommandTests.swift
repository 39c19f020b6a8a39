// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import TestSupport
import Testing

/// `clock` and `settings`, and a file's settings through a running store.
@Suite(.timeLimit(.minutes(5))) struct ControlCommandTests {
    private let rig: Rig

    init() throws {
        rig = try Rig()
    }

    private static let file = """
        {"products": [{"productID": "zoo.a", "type": "Consumable", "displayPrice": "1"}],
         "settings": {"_timeRate": 6, "_disableDialogs": true, "_billingGracePeriodEnabled": true,
           "_storeKitErrors": [{"name": "App Store Sync", "enabled": true,
             "current": {"index": 2, "type": "generic"}}]}}

        """

    private func now(_ clock: [String: Any]) throws -> Int64 {
        try #require(clock["now"] as? Int64)
    }

    @Test func `a file's settings are obeyed, shown and exported`() async throws {
        try Data(Self.file.utf8).write(to: URL(fileURLWithPath: rig.path("Zoo.storekit")))
        let store = try await rig.serve("Zoo.storekit", "--bundle-id", "com.example.zoo")
        defer { store.kill(SIGTERM) }

        let clock = try await rig.object("clock")
        let settings = try await rig.object("settings")
        let words = try await rig.run("shopkeeper", "settings")
        _ = try await rig.object("buy", "zoo.a")
        _ = try await rig.object("catalogue", "export", "-o", "Back.storekit")

        #expect(clock["rate"] as? Int == 86_400)
        #expect(settings["timeRate"] as? Int == 6)
        #expect(settings["speed"] as? Int == 86_400)
        #expect(
            words.output.contains(
                "time rate              1 second is a day, 86400 times as fast"))
        #expect(settings["disablesDialogs"] as? Bool == true)
        #expect((settings["unobeyed"] as? [Any])?.count == 1)
        #expect(words.output.contains("grace period           on"))
        #expect(words.output.contains("fails                  App Store Sync: networkError"))
        #expect(words.output.contains("not obeyed: _storeKitErrors: "))
        let back = FileManager.default.contents(atPath: rig.path("Back.storekit"))
        #expect(back == Data(Self.file.utf8))
    }

    @Test func `the clock is shown, moved and started`() async throws {
        let store = try await rig.serve()
        defer { store.kill(SIGTERM) }

        let stood = try await rig.object("clock", "freeze", "--at", "2030-01-31T00:00:00Z")
        let rated = try await rig.object("clock", "rate", "60")
        let month = try await rig.object("clock", "advance", "1mo")
        let jumped = try await rig.object("clock", "advance", "1h")
        let words = try await rig.run("shopkeeper", "clock")
        let runs = try await rig.object("clock", "run")
        let past = try await rig.object("clock", "to", "now-13mo")
        let frozen = try await rig.object("clock", "freeze")
        let real = try await rig.object("clock", "run", "--real")

        #expect(try now(stood) == 1_896_048_000_000)
        #expect(try now(rated) == 1_896_048_000_000)
        #expect(rated["isStanding"] as? Bool == true)
        // A month after 31 January is 28 February.
        #expect(try now(month) == 1_898_467_200_000)
        #expect(try now(jumped) == 1_898_470_800_000)
        #expect(
            words.output
                == "2030-02-28T01:00:00Z, standing (else 60 times as fast as the machine's)\n")
        #expect(runs["isStanding"] as? Bool == false && runs["rate"] as? Int == 60)
        #expect(try now(runs) >= now(jumped) && now(past) < now(runs))
        #expect(past["isStanding"] as? Bool == false && frozen["isStanding"] as? Bool == true)
        #expect(real["rate"] == nil && real["isStanding"] as? Bool == false)
        #expect(try now(real) > now(frozen))
    }

    private static let subscriptions = """
        {"products": [{"productID": "zoo.a", "type": "Consumable", "displayPrice": "1"}],
         "subscriptionGroups": [{"id": "g", "name": "Zoo", "localizations": [], "subscriptions": [
           {"productID": "zoo.pass", "type": "RecurringSubscription", "displayPrice": "4.99",
            "recurringSubscriptionPeriod": "P1M", "referenceName": "Pass", "groupNumber": 1,
            "subscriptionGroupID": "g"}]}]}

        """

    @Test func `customers subscribe in the past, and have clocks of their own`() async throws {
        try Data(Self.subscriptions.utf8).write(to: URL(fileURLWithPath: rig.path("Zoo.storekit")))
        let store = try await rig.serve("Zoo.storekit", "--bundle-id", "com.example.zoo")
        defer { store.kill(SIGTERM) }
        func kinds(_ answer: [String: Any]) -> [String] {
            (answer["events"] as? [[String: Any]] ?? []).compactMap { $0["kind"] as? String }
        }
        for name in ["ann", "bob"] { _ = try await rig.object("customer", "create", name) }

        let bought = try await rig.object(
            "buy", "zoo.pass", "--at", "now-13mo", "--customer", "ann")
        let words = try await rig.run(
            "shopkeeper", "buy", "zoo.a", "--at", "now-1h", "--customer", "bob")
        _ = try await rig.object("customer", "create", "cid")
        let years = try await rig.run(
            "shopkeeper", "buy", "zoo.pass", "--at", "now-2mo", "--customer", "cid")
        let attached = try await rig.object("clock", "attach", "ann", "bob")
        let moved = try await rig.object(
            "clock", "advance", "2mo", "--customer", "ann", "--notifications", "drop")
        let rated = try await rig.object(
            "clock", "rate", "monthlyRenewalEveryFiveMinutes", "--customer", "bob")
        let shown = try await rig.run("shopkeeper", "clock", "show", "--customer", "ann")
        let list = try await rig.object("clock", "list")
        let bobs = try await rig.run("shopkeeper", "transaction", "list", "--customer", "bob")
        let real = try await rig.object("clock")
        let left = try await rig.object("clock", "detach", "ann", "bob")

        #expect(kinds(bought) == ["subscribed"] + Array(repeating: "renewed", count: 13))
        #expect(words.output.hasPrefix("Bought zoo.a at 20"))
        #expect(years.output.split(separator: "\n").count == 4, "\(years.output)")
        #expect(bobs.output.contains("zoo.a") && !bobs.output.contains("zoo.pass"))
        #expect((attached["customerIds"] as? [String])?.count == 2)
        #expect(try now(moved) > now(real) + 58 * 86_400_000)
        #expect(rated["timeRate"] as? String == "monthlyRenewalEveryFiveMinutes")
        #expect(shown.output.hasPrefix("clock 1 of customers "))
        #expect(shown.output.contains("a month lasts 5 minutes"))
        #expect((list["clocks"] as? [Any])?.count == 1)
        #expect(left["clockId"] == nil)
    }

    @Test func `what makes no sense is refused with its code`() async throws {
        let store = try await rig.serve()
        defer { store.kill(SIGTERM) }
        func status(_ arguments: String...) async throws -> [String] {
            let outcome = try await ChildProcess.run(
                ["shopkeeper"] + arguments + ["--json"], environment: rig.environment,
                folder: URL(fileURLWithPath: rig.folder.path))
            let said = try JSONSerialization.jsonObject(with: Data(outcome.errors.utf8))
            let code = (said as? [String: Any])?["code"] as? String
            return ["\(outcome.status)", code ?? outcome.errors]
        }

        #expect(try await status("clock", "rate", "0") == ["1", "clockRateInvalid"])
        #expect(try await status("clock", "to", "soon") == ["64", "instantInvalid"])
        #expect(try await status("clock", "rate", "fast") == ["1", "timeRateUnknown"])
        #expect(
            try await status("clock", "advance", "1mo", "--customer", "customer")
                == ["1", "noOwnClock"])
        #expect(
            try await status("clock", "show", "--customer", "no/body")
                == ["1", "customerNotFound"])
        #expect(try await status("buy", "a", "--at", "soon") == ["64", "instantInvalid"])
        #expect(try await status("buy", "a", "--at", "now+1h") == ["1", "dateOutOfRange"])
        #expect(try await status("clock", "freeze", "--at", "soon") == ["64", "instantInvalid"])
        for step in ["9223372036854775807s", "1", "mo", "0d", "1mon", "P0M", "1000y"] {
            #expect(
                try await status("clock", "advance", step) == ["64", "stepInvalid"], "\(step)")
        }
        #expect(try await status("clock", "advance", "99y") == ["1", "clockOutOfRange"])
        #expect(try await status("clock", "to", "1") == ["1", "clockOutOfRange"])
        #expect(
            try await status("settings", "--bundle-id", "com.example.none")
                == ["1", "bundleIdUnknown"])
        #expect(
            try await status("settings", "--bundle-id", "../..") == ["1", "bundleIdUnknown"])
    }
}
