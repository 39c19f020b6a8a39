// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import PurchaseKitTesting
import Shop
import SignedData
import StorageSQLite
import StoreKit
import StoreWire
import TestSupport
import Testing

@testable import Ledger
@testable import shopkeeper

/// The ledger asks our own store over HTTP, through Apple's door, with a key of it.
@Suite(.timeLimit(.minutes(5))) struct LedgerRoadScenarioTests {
    private static let user = "0f0f0f0f-1111-4222-8333-444444444444"

    private static func ledger(of served: ServedShop) async throws -> Ledger {
        let shop = served.shop
        let key = try await shop.realm.merchant.createServerKey(bundleID: Goods.bundleID.value)
        let root = try await shop.root()
        var configuration = try LedgerConfiguration(
            roots: [TrustedRoot(certificate: root, environments: [.sandbox])],
            apps: [LedgerApp(bundleID: Goods.bundleID, environments: [.sandbox])])
        configuration.stores = [
            try StoreAccess(
                addresses: [
                    StoreAccess.Address(
                        environment: .sandbox, root: root, api: served.address,
                        callsPerSecond: 1000)
                ],
                key: StoreAccess.Key(
                    issuerID: key.issuerId, keyID: key.keyId, privateKeyPEM: key.privateKey))
        ]
        var ports = LedgerPorts(wall: shop.wall.clock, randomness: .seeded(1)) { _, _ in }
        ports.stores = LiveStoreDoor.door(isProduction: false)
        return try await Ledger.open(
            storage: try await SQLiteStorage.open(file: nil, migrations: Ledger.migrations),
            configuration: configuration, ports: ports)
    }

    @Test func `every notification is lost, and the ledger finds sale and refund in the history`()
        async throws
    {
        try await ServedShop.with(try await TestShop.monkeys()) { served in
            let shop = served.shop
            let ledger = try await Self.ledger(of: served)
            let device = try await shop.device()
            for (count, quantity) in [(1, 3), (2, 2)] {
                try await device.buy(
                    "credits.5", quantity: quantity, applicationUsername: Self.user)
                let sold = try await device.heard.all(.purchased, count: count)[count - 1]
                device.queue.finishTransaction(sold)
                try await device.heard.removed(count: count)
            }
            _ = try await shop.notifications.all("ONE_TIME_CHARGE", count: 2)

            try await until("both sales are read", seen: "\(ledger.counts.gapsFilled) of 2") {
                let found = try await ledger.fillGaps(isStart: true)
                #expect(found.map(\.trouble) == [nil])
                #expect(found.map(\.isComplete) == [true])
                return ledger.counts.gapsFilled == 2
            }
            let bought = try await ledger.unspent(account: Self.user).purchases
            #expect(bought.map(\.unspent).sorted() == [2, 3])

            let first = try #require(bought.first)
            let looked = try await ledger.take(
                TakeTransactionRequest(transactionId: first.transactionId))
            #expect(looked == .taken(first))
            _ = try await shop.refund(first.transactionId)
            // The store lists what it has sent once that is recorded.
            try await until("the refund is read", seen: "\(ledger.counts.gapsFilled) of 3") {
                _ = try await ledger.fillGaps(isStart: true)
                return ledger.counts.gapsFilled == 3
            }
            #expect(
                try await ledger.unspent(account: Self.user).purchases.map(\.transactionId)
                    == bought.dropFirst().map(\.transactionId))
        }
    }

    @Test func `our store answers about a number and about a receipt, and both are one purchase`()
        async throws
    {
        let shop = try await TestShop.monkeys()
        try await ServedShop.with(shop) { served in
            let ledger = try await Self.ledger(of: served)
            let device = try await shop.device()
            try await device.buy("credits.5", applicationUsername: Self.user)
            let id = try #require(
                try await device.heard.first(.purchased).transactionIdentifier)
            let unknown = await #expect(throws: LedgerRefusal.self) {
                try await ledger.take(TakeTransactionRequest(transactionId: "2999999999999999"))
            }
            #expect(unknown?.error.code == "transactionUnknown")

            guard
                case .taken(let taken) = try await ledger.take(
                    TakeTransactionRequest(transactionId: id, account: Self.user))
            else { return #expect(Bool(false), "the store answers") }
            #expect(taken.account == Self.user)
            let bytes = try #require(try device.receipt())
            let receipt = try await ledger.present(
                TakeReceiptRequest(receipt: Base64.encode(bytes), mode: "verifyReceipt"))
            guard case .taken(let verified) = receipt else {
                return #expect(Bool(false), "verifyReceipt answers")
            }
            #expect(verified.purchases == [taken])
            #expect(verified.refused == [])
        }
    }
}
