// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreWire
import TestSupport
import Testing

/// Administration by verb, while a store runs.
@Suite(.timeLimit(.minutes(5))) struct AdministrationCommandTests {
    let rig: Rig

    init() throws {
        rig = try Rig()
    }

    @Test func `groups, offers and versions by verb`() async throws {
        let store = try await rig.serve()
        defer { store.kill(SIGTERM) }
        _ = try await rig.object("app", "create", "com.example.zoo")
        let app = ["--bundle-id", "com.example.zoo"]
        func ask(_ words: String...) async throws -> String {
            let reply = try await ChildProcess.run(
                ["shopkeeper"] + words + app, environment: rig.environment,
                folder: URL(fileURLWithPath: rig.path(".")))
            return "\(reply.status) \(reply.output)"
        }

        #expect(try await ask("group", "add", "pro", "--name", "Pro") == "0 pro  Pro  empty\n")
        _ = try await ask(
            "product", "create", "gold", "--type", "auto-renewable", "--group", "pro", "--period",
            "P1M", "--level", "2")
        #expect(try await ask("group", "list").contains("2: gold"))
        #expect(
            try await ask(
                "offer", "add", "gold", "promotional", "--id", "spring", "--mode", "payAsYouGo",
                "--periods", "3", "--price", "0.99"
            ) == "0 promotional  spring  payAsYouGo  0.99  3 x P1M  \n")
        #expect(try await ask("offer", "list", "gold").contains("spring"))
        #expect(try await ask("offer", "remove", "gold", "promotional", "summer").hasPrefix("1"))
        #expect(try await ask("offer", "remove", "gold", "promotional", "spring").hasPrefix("0"))
        #expect(try await ask("group", "remove", "pro").hasPrefix("1"))
        #expect(
            try await ask("app", "version", "add", "1.0", "--product", "gold")
                == "0 1.0  waiting  gold\n")
        #expect(try await ask("app", "version", "live", "1.0") == "0 1.0  live  gold\n")
        #expect(try await ask("app", "version", "list").contains("live"))
    }

    @Test func `a review is listed, answered and removed by verb`() async throws {
        let store = try await rig.serve()
        defer { store.kill(SIGTERM) }
        try await DeviceClient(rig.path(".shopkeeper")).review(stars: 4, text: "Fine.")

        let listed = try await rig.object("review", "list")
        let review = try #require((listed["reviews"] as? [[String: Any]])?.first)
        let customer = try #require(review["customerId"] as? String)
        let answered = try await rig.object("review", "answer", customer, "Thanks.")
        let table = try await rig.run("shopkeeper", "review", "list")
        let nobody = try await rig.run("shopkeeper", "review", "answer", "7", "Thanks.")
        let removed = try await rig.run("shopkeeper", "review", "remove", customer)
        let left = try await rig.object("review", "list")

        #expect(listed["average"] as? String == "4.0" && review["text"] as? String == "Fine.")
        #expect(answered["answer"] as? String == "Thanks.")
        #expect(table.output.contains("4 of 5") && table.output.contains("answer: Thanks."))
        #expect(nobody.status == 1 && nobody.errors.contains("has not reviewed"))
        #expect(removed.status == 0 && left["count"] as? Int == 0)
    }

    @Test func `the audit names the operator's own key`() async throws {
        let store = try await rig.serve()
        defer { store.kill(SIGTERM) }
        let ann = try await rig.object("operator", "create", "ann")
        let key = try #require(ann["key"] as? String)

        let made = try await rig.run(
            "shopkeeper", "customer", "create", "blob",
            with: ["SHOPKEEPER_OPERATOR_KEY": key])
        let unasked = try await rig.run("shopkeeper", "customer", "clear", "blob")
        let cleared = try await rig.object("customer", "clear", "blob", "--yes")
        let who = try await rig.list("audit", "list").map { $0["who"] as? String }
        _ = try await rig.object("operator", "revoke", "ann")
        let refused = try await rig.run(
            "shopkeeper", "customer", "list", with: ["SHOPKEEPER_OPERATOR_KEY": key])
        let deeds = try await rig.list("audit", "list", "--store").map { $0["deed"] as? String }

        #expect(made.status == 0)
        #expect(unasked.status == 64 && unasked.errors.contains("--yes"))
        #expect(cleared["transactions"] as? Int == 0)
        #expect(who.suffix(2) == ["ann", "operator"])
        #expect(refused.status == 77)
        #expect(deeds.suffix(2) == ["operator.create", "operator.revoke"])
    }

    @Test func `a customer is made and changed by verb, whole`() async throws {
        let store = try await rig.serve()
        defer { store.kill(SIGTERM) }
        func ask(_ words: String...) async throws -> String {
            let reply = try await ChildProcess.run(
                ["shopkeeper", "customer"] + words, environment: rig.environment,
                folder: URL(fileURLWithPath: rig.path(".")))
            return "\(reply.status) \(reply.output.drop { $0 != " " }.dropFirst(2))"
        }

        let made = try await ask(
            "create", "kid", "--email", "kid@example.com", "--interrupts-purchases")
        let device = try await DeviceClient(rig.path(".shopkeeper"), customer: "kid")
        let asked = try await device.purchase(UUID().uuidString.lowercased())
        let changed = try await ask(
            "change", "kid", "--email", "", "--asks-to-buy", "--no-interrupts-purchases",
            "--storefront", "DEU")
        let listed = try await rig.list("customer", "list").last
        let wrong = try await ask("change", "kid", "--email", "kid")

        #expect(made == "0 kid  USA  may buy, interrupted  kid@example.com\n")
        #expect(asked.state == "waiting" && asked.waitingFor == "attention")
        #expect(changed == "0 kid  DEU  asks to buy  -\n")
        #expect(listed?["email"] == nil && listed?["interruptsPurchases"] as? Bool == false)
        #expect(wrong.hasPrefix("1 "))
    }
}
