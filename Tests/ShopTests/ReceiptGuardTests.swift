// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import SignedData
import StoreWire
import Testing

@testable import Shop

/// What verifyReceipt, which takes no key, does not let anyone do.
@Suite(.timeLimit(.minutes(5))) struct ReceiptGuardTests {
    @Test(arguments: ["receipts", "intermediate"])
    func `a receipt of a revoked certificate is not authentic`(role: String) async throws {
        let world = try await TestWorld.open(keys: MemoryKeyStore())
        let session = try await world.session()
        try await world.buy("pro", purchaseID(1), session: session)
        let receipt = try await world.receiptText(session)
        let before = try await world.verify(receipt)
        _ = try await world.store.rotateCertificates(
            RotateCertificatesRequest(withIntermediate: true))
        let rotated = try await world.verify(receipt)
        let old = try await world.store.certificates().filter {
            !$0.isInUse && $0.kind == "sandbox" && $0.role == role
        }
        for certificate in old {
            _ = try await world.store.revokeCertificate(certificate.serialNumber)
        }

        let revoked = try await world.verify(receipt)
        let fresh = try await world.verify(try await world.receiptText(session))

        #expect(old.count == 1)
        #expect(before["status"] as? Int == 0 && rotated["status"] as? Int == 0)
        #expect(revoked["status"] as? Int == 21_003 && revoked.count == 1)
        #expect(fresh["status"] as? Int == 0, "the next receipt has the new certificates")
    }

    @Test func `a device's copy is not current after a rotation`() async throws {
        let world = try await TestWorld.open(keys: MemoryKeyStore())
        let session = try await world.session()
        func answer(_ etag: String?) async throws -> ReceiptAnswer {
            try await world.realm.purchases.receipt(
                ifNoneMatch: etag, session, TestWorld.context)
        }
        guard case .receipt(_, let etag) = try await answer(nil) else {
            Issue.record("no receipt")
            return
        }
        let same = try await answer(etag)
        _ = try await world.store.rotateCertificates(RotateCertificatesRequest())
        let rotated = try await answer(etag)

        #expect(same == .unchanged(etag: etag))
        guard case .receipt(_, let next) = rotated else {
            Issue.record("the old copy passed for current")
            return
        }
        #expect(next != etag)
    }

    @Test func `each client has a number of requests an hour`() async throws {
        let world = try await TestWorld.open()
        let desk = world.store.receipts
        for _ in 0..<ReceiptDesk.perHour { try desk.count("10.0.0.1", at: TestWall.start) }

        let over = try await refusal {
            try await world.store.verifyReceipt(
                realm: nil, RequestContext(requestID: "r", client: "10.0.0.1")
            ) {
                Issue.record("its body is not read")
                return []
            }
        }
        let other = try await world.answer("{}")
        world.wall.advance(seconds: 3600)
        #expect(throws: Never.self) { try desk.count("10.0.0.1", at: world.wall.clock.now) }

        #expect(over.kind == .tooMany && over.error.code == "tooManyRequests")
        #expect(over.error.rule != nil && over.error.remedy != nil)
        #expect((1...3600).contains(over.retryAfterSeconds ?? 0))
        #expect(other["status"] as? Int == 21_002)
    }

    @Test func `counters are limited, and further clients share one`() {
        let limits = MerchantLimits()
        func count(_ client: String) -> Bool {
            limits.count(BundleID(""), client, perHour: 1, at: TestWall.start) == nil
        }
        for n in 0..<MerchantLimits.entriesMax { #expect(count("\(n)")) }
        #expect(count("next") && !count("another"))
    }

    /// Three of the longest requests do not fit into a client's share, and others' do.
    @Test func `a client that fills its share is told to come again, before its body is read`()
        async throws
    {
        let world = try await TestWorld.open()
        let desk = world.store.receipts
        let client = RequestContext(requestID: "r", client: "10.0.0.1")
        let first = try #require(desk.admit(nil, for: "10.0.0.1"))
        let second = try #require(desk.admit(Store.receiptRequestBytesMax, for: "10.0.0.1"))

        let busy = try await world.store.verifyReceipt(realm: nil, client) {
            Issue.record("its body is not read")
            return []
        }
        let other = try await world.answer("{}")
        desk.leave(first)
        desk.leave(second)
        let later = try await world.store.verifyReceipt(realm: nil, client) { Array("{}".utf8) }

        #expect(String(decoding: busy, as: UTF8.self) == #"{"status":21005}"#)
        #expect(other["status"] as? Int == 21_002)
        #expect(String(decoding: later, as: UTF8.self) == #"{"status":21002}"#)
    }

    @Test func `the place of a request whose body breaks off is free again`() async throws {
        let world = try await TestWorld.open()
        let client = RequestContext(requestID: "r", client: "10.0.0.1")
        for _ in 0..<20 {
            await #expect(throws: CancellationError.self) {
                try await world.store.verifyReceipt(realm: nil, client) {
                    throw CancellationError()
                }
            }
        }
        #expect(world.store.receipts.admit(nil, for: "10.0.0.1") != nil)
    }
}

/// Which realm answers where the address names none.
@Suite(.timeLimit(.minutes(5)), .enabled(if: !TestClusters.areShared))
struct ReceiptRealmTests {
    @Test func `a branch has no shared secret, so a receipt is the first realm's`() async throws {
        let world = try await TestWorld.openWithSubscriptions()
        let session = try await world.session()
        try await world.buy("news", purchaseID(1), session: session)
        let receipt = try await world.receiptText(session)
        let secret = try await world.secret()
        _ = try await world.realm.keeping.saveSnapshot(
            SaveSnapshotRequest(name: "a"), TestWorld.context)
        _ = try await world.store.branchRealm(
            named: "default", BranchRealmRequest(snapshot: "a", name: "a-branch"),
            TestWorld.context)
        let branch = try await world.store.realm(named: "a-branch")

        // The two go apart: the secret's realm has another renewal state.
        let sold = try await world.realm.purchases.listTransactions(
            bundleID: TestWorld.bundleID.value)
        _ = try await world.realm.subscriptions.switchRenewal(
            of: try #require(sold.transactions.first?.payload.originalTransactionId), on: false,
            TestWorld.context)
        let answer = try await world.verify(receipt, password: secret)
        let there = try await world.verify(receipt, password: secret, realm: "a-branch")

        let made = try await branch.catalogue.sharedSecret(TestWorld.bundleID.value)
        #expect(made.sharedSecret == nil)
        #expect(answer["status"] as? Int == 0 && there["status"] as? Int == 21_004)
        let pending = try #require((answer["pending_renewal_info"] as? [[String: Any]])?.first)
        #expect(pending["auto_renew_status"] as? String == "0")
    }

    @Test func `a load leaves the secrets as they are`() async throws {
        let world = try await TestWorld.open()
        let first = try await world.secret()
        _ = try await world.realm.keeping.saveSnapshot(
            SaveSnapshotRequest(name: "a"), TestWorld.context)
        let second = try await world.secret()
        _ = try await world.realm.keeping.loadSnapshot("a", TestWorld.context)

        let kept = try await world.realm.catalogue.sharedSecret(TestWorld.bundleID.value)
        #expect(first != second && kept.sharedSecret == second)
    }

    @Test func `of realms with one secret the one that knows the purchase answers`() async throws {
        let world = try await TestWorld.openWithSubscriptions()
        let secret = try await world.secret()
        _ = try await world.store.createRealm(CreateRealmRequest(name: "a-second"))
        let second = try await world.store.realm(named: "a-second")
        try await second.catalogue.importCatalogue(
            TestWorld.withSubscriptions(), app: AppDescription(bundleID: TestWorld.bundleID),
            TestWorld.context)
        _ = try await second.catalogue.makeSharedSecret(
            TestWorld.bundleID.value, given: secret, TestWorld.context)
        let there = TestWorld(
            places: world.places, wall: world.wall, logged: world.logged, store: world.store,
            realm: second)
        for (n, holder) in [world, there].enumerated() {
            let session = try await holder.session()
            try await holder.buy("news", purchaseID(n), session: session)
            let receipt = try await holder.receiptText(session)

            let answer = try await world.verify(receipt, password: secret)

            let latest = try #require((answer["latest_receipt_info"] as? [[String: Any]])?.first)
            let own = try await holder.realm.purchases.listTransactions(
                bundleID: TestWorld.bundleID.value)
            #expect(
                latest["transaction_id"] as? String
                    == own.transactions.first?.payload.transactionId)
        }
    }

    /// Without a secret, and under the name of Apple's production host.
    @Test func `a production receipt is production's, whichever realm is the default`()
        async throws
    {
        let world = try await TestWorld.open()
        let live = try await TestWorld.open(
            places: world.places, wall: world.wall, randomness: 2,
            realm: "live", environment: .production)
        _ = try await live.realm.customers.createCustomer(
            CreateCustomerRequest(name: "ann", password: "correct horse"))
        let token = try await live.signIn(
            customer: "ann", password: "correct horse", bundleID: TestWorld.bundleID.value
        ).token
        let session = try await live.realm.customers.session(token: token)
        let receipt = try await live.receiptText(session)
        let body = Array(#"{"receipt-data":"\#(receipt)"}"#.utf8)

        for (environment, status) in [
            (nil, 0), (.production, 0), (.sandbox, 21_008),
        ] as [(Environment?, Int)] {
            let answer = try await live.store.verifyReceipt(
                realm: nil, at: environment, TestWorld.context
            ) { body }
            let text = String(decoding: answer, as: UTF8.self)
            #expect(text.contains(#""status":\#(status)"#), "\(text)")
        }
    }
}
