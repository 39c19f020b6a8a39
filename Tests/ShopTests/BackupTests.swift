// SPDX-License-Identifier: Apache-2.0

import Archive
import Commerce
import Foundation
import SignedData
import Storage
import StoreWire
import TestSupport
import Testing

@testable import Shop

/// A store is copied while it sells, and made again elsewhere.
@Suite(.timeLimit(.minutes(5))) struct BackupTests {
    struct Way: Sendable, CustomTestStringConvertible {
        let from: BackupEngine
        let to: BackupEngine
        var testDescription: String { "\(from.rawValue) to \(to.rawValue)" }

        static let all = BackupEngine.allCases.flatMap { from in
            BackupEngine.allCases.map { Way(from: from, to: $0) }
        }
    }

    /// A store with a sale, a customer who asks to buy, and a production realm.
    private func filled(_ place: BackupPlace) async throws -> (Store, sold: String) {
        let store = try await place.open(isNew: true)
        let realm = try await store.realm(named: Store.defaultRealm)
        try await realm.catalogue.putCatalogue(
            TestWorld.catalogue(), app: AppDescription(bundleID: TestWorld.bundleID))
        _ = try await realm.customers.createCustomer(
            CreateCustomerRequest(name: "Zoë ✓ \"quoted\"", asksToBuy: true))
        _ = try await store.createRealm(
            CreateRealmRequest(name: "live", environment: .production))
        let bought = try await buy(realm, 1)
        return (store, try #require(bought.signedTransaction))
    }

    @discardableResult
    private func buy(
        _ realm: Realm, _ number: Int, product: String = "credits.5"
    ) async throws -> PurchaseResponse {
        let token = try await realm.customers.signIn(
            SignInRequest(appVersion: "1", deviceUUID: TestWorld.deviceUUID), TestWorld.context
        ).token
        let session = try await realm.customers.session(token: token)
        try await realm.finishQuietly(
            ProductID(product), of: session.customer, before: purchaseID(number))
        return try await realm.purchases.purchase(
            purchaseID(number),
            PurchaseRequest(productId: product, quantity: 1, unitPrice: 990, currency: "USD"),
            session, TestWorld.context)
    }

    @Test(arguments: Way.all)
    func `a store goes on where its copy ended, whatever the engine`(way: Way) async throws {
        let (here, there) = (try await BackupPlace(way.from), try await BackupPlace(way.to))
        let (first, sold) = try await filled(here)
        let old = try await first.realm(named: Store.defaultRealm)
        let archive = try await here.backup("copy")
        // Sold after the copy was made: the numbers must not come again.
        let lost = try TestWorld.payload(
            try #require(try await buy(old, 2).signedTransaction), old)
        await first.close()

        let summary = try await there.restore(archive)
        let second = try await there.open()
        let new = try await second.realm(named: Store.defaultRealm)
        let again = try await buy(new, 1)
        let later = try TestWorld.payload(
            try #require(try await buy(new, 3).signedTransaction), new)

        #expect(summary.realms.count == 2)
        #expect(try await second.realms().map(\.name) == ["default", "live"])
        let before = try TestWorld.payload(sold, new)
        #expect(
            try TestWorld.payload(try #require(again.signedTransaction), new).transactionId
                == before.transactionId)
        let ids = [lost, later].compactMap { $0.transactionId.flatMap { Int64($0) } }
        try #require(ids.count == 2)
        #expect(ids[0] < ids[1])
        #expect(new.description.id == old.description.id)
        #expect(new.description.generation > old.description.generation)
        #expect(try await new.purchases.listTransactions().transactions.count == 2)
        #expect(
            try await new.customers.listCustomers().map(\.name) == ["customer", "Zoë ✓ \"quoted\""])
        let root = try await Authorities(keys: try await TestWorld.keys.value)
            .existing(.production)?.root
        #expect(try await second.rootCertificate(.production).der == root)
        await second.close()
    }

    @Test(arguments: BackupEngine.allCases)
    func `a store whose certificates were rotated can be restored`(
        engine: BackupEngine
    ) async throws {
        let (here, there) = (try await BackupPlace(engine), try await BackupPlace(engine))
        let (first, sold) = try await filled(here)
        for _ in 1...2 {
            _ = try await first.rotateCertificates(RotateCertificatesRequest())
        }
        let certificates = try await first.certificates()
        let archive = try await here.backup("copy")
        await first.close()

        _ = try await there.restore(archive)
        let second = try await there.open()
        let realm = try await second.realm(named: Store.defaultRealm)
        let after = try await buy(realm, 3)

        #expect(
            try await second.certificates().map(\.serialNumber)
                == certificates.map(\.serialNumber))
        for signed in [sold, try #require(after.signedTransaction)] {
            #expect(throws: Never.self) { try TestWorld.payload(signed, realm) }
        }
        await second.close()
    }

    @Test func `an archive is readable only by its owner`() async throws {
        let place = try await BackupPlace(.sqlite)
        let (store, _) = try await filled(place)

        let path = try await place.backup("copy")

        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
        let fault = await #expect(throws: ArchiveFault.self) { try await place.backup("copy") }
        #expect(fault?.code == .unwritable)
        await store.close()
    }

    @Test func `sessions do not go on`() async throws {
        let (here, there) = (try await BackupPlace(.sqlite), try await BackupPlace(.sqlite))
        let (first, _) = try await filled(here)
        let token = try await first.realm(named: Store.defaultRealm).customers.signIn(
            SignInRequest(deviceUUID: TestWorld.deviceUUID), TestWorld.context
        ).token
        let archive = try await here.backup("copy")
        await first.close()

        _ = try await there.restore(archive)
        let second = try await there.open()
        let realm = try await second.realm(named: Store.defaultRealm)

        let refusal = try await refusal { try await realm.customers.session(token: token) }
        #expect(refusal.error.code == "sessionUnknown")
        await second.close()
    }

    @Test func `a copy that is cut short or changed is refused, wherever`() async throws {
        let place = try await BackupPlace(.sqlite)
        let (store, _) = try await filled(place)
        let bytes = try Data(contentsOf: URL(fileURLWithPath: try await place.backup("copy")))
        await store.close()
        let spoilt = place.folder.file("spoilt")

        for part in 0..<40 {
            var wrong = bytes
            let at = bytes.count * part / 40
            if part % 2 == 0 { wrong = bytes.prefix(at) } else { wrong[at] ^= 1 }
            try wrong.write(to: URL(fileURLWithPath: spoilt))
            let empty = try await BackupPlace(.sqlite)

            let fault = await #expect(throws: ArchiveFault.self) {
                try await empty.restore(spoilt)
            }

            #expect(
                [.cutShort, .damaged, .notAnArchive].contains(fault?.code),
                "\(part): \(fault as Any)")
            #expect(!FileManager.default.fileExists(atPath: empty.folder.file("store.sqlite")))
        }
    }

    @Test func `a copy by a newer program is refused`() async throws {
        let place = try await BackupPlace(.sqlite)
        let (store, _) = try await filled(place)
        try await store.registry.write { writing in
            try writing.execute(
                Statement(
                    "test.newer",
                    "INSERT INTO schema_migrations (number, name, checksum) VALUES (99, 'x', 'y')"),
                [])
        }

        let fault = await #expect(throws: StorageFault.self) { try await place.backup("copy") }

        #expect(fault?.code == .unreadable)
        await store.close()
    }

    @Test func `a place that holds a store is left as it is`() async throws {
        let (here, there) = (try await BackupPlace(.sqlite), try await BackupPlace(.sqlite))
        let (first, _) = try await filled(here)
        let (second, _) = try await filled(there)
        await second.close()

        let archive = try await here.backup("copy")
        let fault = await #expect(throws: ArchiveFault.self) { try await there.restore(archive) }

        #expect(fault?.code == .targetNotEmpty)
        let store = try await there.open()
        #expect(
            try await store.realm(named: Store.defaultRealm).purchases.listTransactions()
                .transactions.count
                == 1)
        await store.close()
        await first.close()
    }

    @Test(arguments: BackupEngine.allCases)
    func `an unfinished restore is never served, and starts from the beginning`(
        engine: BackupEngine
    ) async throws {
        let (here, there) = (try await BackupPlace(.sqlite), try await BackupPlace(engine))
        let (first, _) = try await filled(here)
        let archive = try await here.backup("copy")
        await first.close()
        var dying = there.places
        let open = dying.realm
        dying.realm = { id, migrations in
            _ = try await open(id, migrations).close()
            throw StorageFault(.unavailable, "killed")
        }

        await #expect(throws: StorageFault.self) {
            try await StoreRestore.read(
                archive, into: dying, there.dialect, keys: try there.keys(), wall: TestWall.start,
                randomness: .seeded(1))
        }
        let fault = await #expect(throws: StorageFault.self) { try await there.open() }
        #expect(fault?.code == .halfRestored)

        _ = try await there.restore(archive)
        let store = try await there.open()
        let realm = try await store.realm(named: Store.defaultRealm)
        #expect(try await realm.purchases.listTransactions().transactions.count == 1)
        await store.close()
    }
}
