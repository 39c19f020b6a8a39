// SPDX-License-Identifier: Apache-2.0

import StoreWire
import Testing

@testable import Shop

@Suite(.timeLimit(.minutes(5))) struct NamedOperatorTests {
    @Test func `a key opens the operators' door under its name, until it is revoked`()
        async throws
    {
        let world = try await TestWorld.open()
        func knock(_ key: String, _ door: Door = .operator) async throws -> Knock {
            try await world.store.knock(key, at: door, TestWorld.context)
        }

        let ann = try await world.store.createOperator(
            CreateOperatorRequest(name: "ann"), TestWorld.context)
        let bob = try await world.store.createOperator(
            CreateOperatorRequest(name: "bob"), TestWorld.context)

        #expect(ann.key.count == 64 && ann.key != bob.key)
        #expect(try await knock(ann.key) == .admitted(as: "ann"))
        #expect(try await knock(ann.key, .control) == .otherDoor)
        let own = try await world.store.doorKey(.operator)
        #expect(try await knock(own) == .admitted(as: "operator"))
        try await world.store.revokeOperator("ann", TestWorld.context)
        #expect(try await knock(ann.key) == .refused)
        #expect(try await knock(bob.key) == .admitted(as: "bob"))
        let list = try await world.store.operators()
        #expect(list.map(\.name).sorted() == ["ann", "bob"])
        #expect(list.filter { $0.revokedDate != nil }.map(\.name) == ["ann"])
        let audit = "\(try await world.store.auditEntries())"
        #expect(!audit.contains(bob.key))
    }

    @Test func `a key outlives the process`() async throws {
        let world = try await TestWorld.open()
        let ann = try await world.store.createOperator(
            CreateOperatorRequest(name: "ann"), TestWorld.context)
        let later = try await world.restarted()
        #expect(
            try await later.store.knock(ann.key, at: .operator, TestWorld.context)
                == .admitted(as: "ann"))
        await later.store.close()
    }

    @Test(arguments: [
        ("", "operatorNameInvalid"), ("a b", "operatorNameInvalid"),
        ("operator", "operatorNameInvalid"), ("server", "operatorNameInvalid"),
        ("ann", "operatorNameSpent"),
    ])
    func `a name that cannot be given is refused`(name: String, code: String) async throws {
        let world = try await TestWorld.open()
        _ = try await world.store.createOperator(
            CreateOperatorRequest(name: "ann"), TestWorld.context)
        try await world.store.revokeOperator("ann", TestWorld.context)

        let refused = try await refusal {
            try await world.store.createOperator(
                CreateOperatorRequest(name: name), TestWorld.context)
        }

        #expect(refused.error.code == code)
        let again = try await refusal {
            try await world.store.revokeOperator("ann", TestWorld.context)
        }
        #expect(again.error.code == "operatorUnknown")
    }

    @Test func `realms, certificates and operators are in the store's audit`() async throws {
        let world = try await TestWorld.open(keys: MemoryKeyStore())
        let ann = RequestContext(requestID: "r", actor: "ann")
        _ = try await world.store.createRealm(CreateRealmRequest(name: "x"), ann)
        try await world.store.deleteRealm(named: "x", ann)
        _ = try await world.store.rotateCertificates(RotateCertificatesRequest(kind: nil), ann)
        let old = try #require(
            try await world.store.certificates().first { !$0.isInUse })
        for _ in 0..<2 { _ = try await world.store.revokeCertificate(old.serialNumber, ann) }
        _ = try await world.store.createOperator(CreateOperatorRequest(name: "bob"), ann)
        try await world.store.revokeOperator("bob", ann)

        let entries = try await world.store.auditEntries().entries
        let theirs = entries.filter { $0.who == "ann" }

        #expect(
            theirs.map(\.deed) == [
                "realm.create", "realm.delete", "certificates.rotate", "certificate.revoke",
                "operator.create", "operator.revoke",
            ])
        #expect(
            theirs.map { $0.changes.contains { $0.before != nil } }
                == [false, true, true, true, false, true])
        #expect(
            theirs.map { $0.changes.contains { $0.after != nil } }
                == [true, false, true, true, true, true])
        #expect(entries.map(\.entry) == Array(1...Int64(entries.count)))
        let page = try await world.store.auditEntries(after: "1", limit: 2)
        #expect(page.entries.map(\.entry) == [2, 3] && page.next == "3")
    }
}
