// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import StoreWire
import Testing

@testable import Shop

/// A merchant's server that asks what a line of text says.
struct AppleAsker {
    /// A transaction of another app, and one that never was.
    let strangers: String
    let never = "2000900000000001"
    let world: TestWorld
    let merchant: Merchant
    /// The other app's, which has no notification URL.
    private let other: Merchant
    private(set) var words: [String: String] = [:]

    init() async throws {
        let family = try await FamilyWorld()
        for command in ["join", "buy:pro", "buy:credits.5", "buy:news", "month"] {
            try await family.run(command)
        }
        world = family.world
        let ann = try await family.payloads("ann")
        func last(_ name: String, _ product: String) async throws -> String {
            try #require(
                try await family.payloads(name).last { $0.productId == product }?.transactionId)
        }
        words["own"] = try await last("ann", "credits.5")
        words["pro"] = try await last("ann", "pro")
        words["app"] = ann[0].appTransactionId
        words["paper"] = ann.first { $0.productId == "news" }?.transactionId
        words["renewal"] = try await last("ann", "news")
        words["theirs"] = try await last("ben", "news")
        _ = try await family.session("gus")
        try await world.buy(
            "trial", purchaseID(71), price: 0, session: try await family.session("gus"))
        words["free"] = try await last("gus", "trial")
        try await world.buy("small", purchaseID(72), session: try await family.session("cat"))
        words["extended"] = try await last("cat", "small")
        let now = try await world.realm.clock().now.milliseconds
        words["from"] = "\(now - 60_000)"
        words["to"] = "\(now + 60_000)"
        words["uuid"] = "00000000-0000-4000-8000-0000000000cc"
        other = try await world.merchant("com.example.other")
        merchant = try await world.merchant()
        let elsewhere = try await world.session(customer: "ann", bundleID: "com.example.other")
        try await world.buy("credits.5", purchaseID(73), session: elsewhere)
        let theirs = try await world.realm.purchases.listTransactions(
            bundleID: "com.example.other")
        strangers = try #require(theirs.transactions.last?.payload.transactionId)
        for name in ["first", "second"] {
            let body =
                #"{"extendByDays":1,"extendReasonCode":1,"requestIdentifier":"\#(name)"}"#
            _ = try await merchant.extend(
                words["extended"] ?? "", Array(body.utf8), TestWorld.context)
        }
    }

    /// The refusal of a request. Nil if it is answered.
    func refusal(of request: String) async throws -> AppleRefusal? {
        let filled = words.reduce(request) {
            $0.replacingOccurrences(of: "{\($1.key)}", with: $1.value)
        }
        let parts = filled.split(separator: " ", maxSplits: 2).map(String.init)
        do { try await ask(parts[0], Array(parts.dropFirst())) } catch let refusal as AppleRefusal {
            return refusal
        }
        return nil
    }

    private func ask(_ verb: String, _ parts: [String]) async throws {
        let (id, rest) = (parts.first ?? "", parts.count > 1 ? parts[1] : "")
        let (body, context) = (Array(rest.utf8), TestWorld.context)
        switch verb {
        case "info": _ = try await merchant.transactionInfo(id)
        case "history":
            _ = try await merchant.history(
                of: id, omitsFinishedConsumables: false, Self.parameters(rest))
        case "refunds":
            _ = try await merchant.refundHistory(of: id, revision: rest.isEmpty ? nil : rest)
        case "refunds1": _ = try await merchant.refundHistoryV1(of: id)
        case "statuses":
            _ = try await merchant.statuses(of: id, only: rest.isEmpty ? [] : [rest])
        case "order": _ = try await merchant.lookUp(order: id)
        case "app": _ = try await merchant.appTransaction(of: id)
        case "finish": try await merchant.finish(id, context)
        case "token":
            try await merchant.setAppAccountToken(
                id, Array(#"{"appAccountToken":"\#(rest)"}"#.utf8), context)
        case "extend": _ = try await merchant.extend(id, body, context)
        case "mass": _ = try await merchant.extendAll(Array(id.utf8), context)
        case "massStatus": _ = try await merchant.extensionStatus(rest, product: id)
        case "consume1": try await merchant.reportConsumptionV1(of: id, Self.report(rest), context)
        case "consume2": try await merchant.reportConsumption(of: id, body, context)
        case "test": _ = try await other.requestTestNotification(context)
        case "testStatus": _ = try await merchant.testNotification(id)
        case "notifications":
            _ = try await merchant.notificationHistory(
                Array(id.utf8), paginationToken: rest.isEmpty ? nil : rest)
        default: Issue.record("no verb \(verb)")
        }
    }

    private static func parameters(_ text: String) -> (String) -> [String] {
        let pairs = text.split(separator: "&").map {
            $0.split(separator: "=", omittingEmptySubsequences: false).map(String.init)
        }
        return { name in pairs.filter { $0[0] == name }.map { $0[1] } }
    }

    /// A whole report of version 1, but for one field.
    private static func report(_ change: String) -> [UInt8] {
        var fields = [
            "customerConsented": "true", "consumptionStatus": "1", "platform": "1",
            "sampleContentProvided": "true", "deliveryStatus": "0", "appAccountToken": "\"\"",
            "accountTenure": "1", "playTime": "1", "lifetimeDollarsRefunded": "1",
            "lifetimeDollarsPurchased": "1", "userStatus": "1", "refundPreference": "1",
        ]
        let sides = change.split(separator: "=").map(String.init)
        fields[sides[0]] = sides[1]
        let pairs = fields.map { "\"\($0.key)\":\($0.value)" }
        return Array("{\(pairs.joined(separator: ","))}".utf8)
    }
}
