// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import SignedData
import Storage
import StoreWire
import Testing

@testable import Shop

/// Certificates that change while stores sign with them.
@Suite(.timeLimit(.minutes(5))) struct CertificateTests {
    /// Two stores of one database, with keys that no other test has.
    private func pair() async throws -> (one: TestWorld, two: TestWorld) {
        let keys = try await ownKeys()
        let places = TestPlaces()
        let one = try await TestWorld.open(places: places, keys: keys)
        return (
            one, try await TestWorld.open(places: places, wall: one.wall, randomness: 2, keys: keys)
        )
    }

    /// Keys that no other test rotates.
    private func ownKeys() async throws -> MemoryKeyStore {
        let keys = MemoryKeyStore()
        let shared = try await TestWorld.keys.value
        for name in try await shared.names() {
            _ = try await keys.store(try await shared.read(name) ?? [], as: name)
        }
        return keys
    }

    private func restarted(_ world: TestWorld, _ keys: MemoryKeyStore) async throws -> TestWorld {
        await world.store.close()
        return try await TestWorld.open(
            places: world.places, wall: world.wall, randomness: 99, keys: keys)
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

    private static func tried<Answer: Sendable>(
        _ body: () async throws -> Answer
    ) async -> Answer? {
        try? await body()
    }

    /// A rotation as far as the keys, with its note, as of a process that died.
    private func die(
        _ world: TestWorld, afterStoring stores: Bool
    ) async throws -> (before: String, after: String) {
        struct Death: Error {}
        let before = world.realm.authority.serialWords
        let registry = world.store.registry
        do {
            _ = try await world.store.authorities.rotate(
                .sandbox, withIntermediate: false, rootKey: nil
            ) { generation, next in
                let note = RotationNote(
                    kind: .sandbox, generation: generation, before: before,
                    after: next.serialWords, who: "ann", wall: TestWall.start)
                try await registry.write { try note.write($0) }
                if !stores { throw Death() }
            }
        } catch is Death {}
        return (before, world.realm.authority.serialWords)
    }

    private func rotations(_ world: TestWorld) async throws -> [AuditRecord] {
        try await world.store.auditEntries().entries.filter { $0.deed == "certificates.rotate" }
    }

    @Test func `a rotation that died after storing its keys is audited at the next start, once`()
        async throws
    {
        let keys = try await ownKeys()
        let one = try await TestWorld.open(keys: keys)
        let serials = try await die(one, afterStoring: true)
        #expect(try await rotations(one).isEmpty)

        let two = try await restarted(one, keys)
        let told = try await rotations(two)
        let again = try await rotations(try await restarted(two, keys))

        #expect(told.map(\.who) == ["ann"] && told.map(\.subject) == ["sandbox"])
        #expect(told.first?.shown == "certificates: \(serials.before) > \(serials.after)")
        #expect(told.first?.date == TestWall.start && serials.before != serials.after)
        #expect(again == told)
    }

    @Test func `a rotation that died before storing its keys is never audited`() async throws {
        let keys = try await ownKeys()
        let one = try await TestWorld.open(keys: keys)
        let serials = try await die(one, afterStoring: false)
        let two = try await restarted(one, keys)

        #expect(serials.before == serials.after)
        #expect(try await rotations(two).isEmpty)
        _ = try await two.store.rotateCertificates(
            RotateCertificatesRequest(), RequestContext(requestID: "r", actor: "bob"))
        let told = try await rotations(try await restarted(two, keys))
        #expect(told.map(\.who) == ["bob"] && told.first?.before("certificates") == serials.before)
    }

    @Test func `of two concurrent rotations one succeeds, and is audited`() async throws {
        let (one, two) = try await pair()

        async let first = Self.tried {
            try await one.store.rotateCertificates(
                RotateCertificatesRequest(), RequestContext(requestID: "r", actor: "ann"))
        }
        async let second = Self.tried {
            try await two.store.rotateCertificates(
                RotateCertificatesRequest(), RequestContext(requestID: "r", actor: "bob"))
        }
        let done = [("ann", await first), ("bob", await second)].filter { $0.1 != nil }
        let told = try await rotations(one)

        #expect(Set(told.map(\.who)) == Set(done.map(\.0)))
        #expect(told.count == done.count && !done.isEmpty)
        let newest = try await one.store.authorities.generations(.sandbox).last?.serialWords
        #expect(told.last?.after("certificates") == newest)
    }

    @Test func `private keys that a rotation makes needless are removed`() async throws {
        let keys = try await ownKeys()
        let one = try await TestWorld.open(keys: keys)
        func stored(_ name: String) async throws -> String {
            String(decoding: try #require(try await keys.read("sandbox/\(name)")), as: UTF8.self)
        }
        let before = try await stored("authority.json")

        for intermediate in [false, true] {
            _ = try await one.store.rotateCertificates(
                RotateCertificatesRequest(withIntermediate: intermediate))
        }
        let former = [try await stored("authority.json"), try await stored("authority.2.json")]
        let current = try await stored("authority.3.json")
        let listed = try await one.store.certificates().filter { $0.kind == "sandbox" }
        // A process that dies before it removes them leaves them to the next.
        try await keys.replace(Array(before.utf8), as: "sandbox/authority.json")
        let again = try await restarted(one, keys)
        let listedAgain = try await again.store.certificates().filter { $0.kind == "sandbox" }

        for needless in ["transactions.key.pem", "receipts.key.pem", "root.key.pem"] {
            #expect(before.contains(needless) && current.contains(needless))
            #expect(former.allSatisfy { !$0.contains(needless) }, "\(needless)")
        }
        #expect(former.allSatisfy { $0.contains("intermediate.key.pem") })
        #expect(try await stored("authority.json") == former[0])
        #expect(listedAgain == listed)
        // Leaves three times, the intermediate twice.
        #expect(listed.count == 3 * 2 + 2)
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

    @Test func `an invalid status request is answered as such`() async throws {
        let (one, _) = try await pair()

        #expect(
            try await one.store.certificateStatus([1, 2, 3]) == [0x30, 0x03, 0x0A, 0x01, 0x01])
    }
}
