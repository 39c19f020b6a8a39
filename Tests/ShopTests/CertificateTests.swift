// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import SignedData
import StoreWire
import Testing

@testable import Shop

/// Certificates that change while stores sign with them.
@Suite(.timeLimit(.minutes(5))) struct CertificateTests {
    /// Two stores of one database, with keys that no other test has.
    private func pair() async throws -> (one: TestWorld, two: TestWorld) {
        let keys = MemoryKeyStore()
        let shared = try await TestWorld.keys.value
        for name in try await shared.names() {
            _ = try await keys.store(try await shared.read(name) ?? [], as: name)
        }
        let places = TestPlaces()
        let one = try await TestWorld.open(places: places, keys: keys)
        return (
            one, try await TestWorld.open(places: places, wall: one.wall, randomness: 2, keys: keys)
        )
    }

    private func leaf(_ signed: String?) throws -> String {
        let header = try #require(signed?.split(separator: ".").first)
        return String(header)
    }

    @Test func `a rotation is signed with in every store, and the past verifies`() async throws {
        let (one, two) = try await pair()
        let session = try await one.session()
        let before = try await one.buy("credits.5", purchaseID(1), session: session)

        let list = try await one.store.rotateCertificates(RotateCertificatesRequest())
        let here = try await one.buy("credits.5", purchaseID(2), session: session)
        two.wall.advance(seconds: 6)
        let realm = try await two.store.realm(named: Store.defaultRealm)
        let there = try await two.buy("credits.5", purchaseID(3), session: session)

        #expect(list.count { $0.isInUse && $0.kind == "sandbox" } == 3)
        #expect(list.filter { $0.kind == "sandbox" }.map(\.generation).max() == 2)
        #expect(try leaf(before.signedTransaction) != leaf(here.signedTransaction))
        #expect(try leaf(here.signedTransaction) == leaf(there.signedTransaction))
        for signed in [before, here, there].compactMap(\.signedTransaction) {
            #expect(throws: Never.self) { try TestWorld.payload(signed, realm) }
        }
    }

    @Test func `a rotation outlives the process, with a new intermediate too`() async throws {
        let (one, two) = try await pair()
        _ = try await one.store.rotateCertificates(
            RotateCertificatesRequest(withIntermediate: true))
        let serials = one.realm.authority.issued
        await one.store.close()

        let again = try await two.store.certificates()

        #expect(Set(serials.map(\.serialText)).isSubset(of: again.map(\.serialNumber)))
        #expect(two.realm.authority.issued == serials)
    }

    @Test func `what is in use is not revoked, what was is, once`() async throws {
        let (one, _) = try await pair()
        let old = one.realm.authority.issued[1]

        let early = try await refusal {
            try await one.store.revokeCertificate(old.serialText)
        }
        _ = try await one.store.rotateCertificates(RotateCertificatesRequest())
        let revoked = try await one.store.revokeCertificate(old.serialText.uppercased())
        one.wall.advance(seconds: 60)
        let again = try await one.store.revokeCertificate(old.serialText)
        let unknown = try await refusal { try await one.store.revokeCertificate("abc") }

        #expect(early.error.code == "certificateInUse")
        #expect(revoked.revokedDate == TestWall.start)
        #expect(again == revoked)
        #expect(unknown.error.code == "certificateUnknown")
    }

    @Test func `a root's key in a safe is used once and not kept`() async throws {
        let keys = MemoryKeyStore()
        let shared = try await TestWorld.keys.value
        let stored = try #require(try await shared.read("sandbox/authority.json"))
        var texts = try JSONDecoder().decode([String: String].self, from: Data(stored))
        let rootKey = try #require(texts["root.key.pem"])
        texts["root.key.pem"] = nil
        _ = try await keys.store(
            [UInt8](try JSONEncoder().encode(texts)), as: "sandbox/authority.json")
        let world = try await TestWorld.open(keys: keys)

        let missing = try await refusal {
            try await world.store.rotateCertificates(
                RotateCertificatesRequest(withIntermediate: true))
        }
        let wrong = try await refusal {
            try await world.store.rotateCertificates(
                RotateCertificatesRequest(withIntermediate: true, rootKey: "nonsense"))
        }
        _ = try await world.store.rotateCertificates(
            RotateCertificatesRequest(withIntermediate: true, rootKey: rootKey))

        #expect(missing.error.code == "rootKeyMissing")
        #expect(wrong.error.code == "rootKeyInvalid")
        #expect(!world.realm.authority.hasRootKey)
        let kept = String(
            decoding: try #require(try await keys.read("sandbox/authority.2.json")), as: UTF8.self)
        #expect(!kept.contains("root.key.pem"))
    }

    @Test func `what is no status request is told so`() async throws {
        let (one, _) = try await pair()

        #expect(
            try await one.store.certificateStatus([1, 2, 3]) == [0x30, 0x03, 0x0A, 0x01, 0x01])
    }
}
