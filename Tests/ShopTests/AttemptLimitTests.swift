// SPDX-License-Identifier: Apache-2.0

import Commerce
import StoreWire
import Testing

@testable import Shop

/// Guesses at passwords and keys: how many there may be.
@Suite(.timeLimit(.minutes(5))) struct AttemptLimitTests {
    private func guess(
        _ world: TestWorld, _ name: String, _ password: String, from client: String? = nil,
        device: String = TestWorld.deviceUUID
    ) async throws -> Refusal? {
        do {
            _ = try await world.realm.customers.signIn(
                SignInRequest(deviceUUID: device, customer: name, password: password),
                RequestContext(requestID: "test", client: client))
            return nil
        } catch let refusal as Refusal { return refusal }
    }

    private func worldWithAnn() async throws -> TestWorld {
        let world = try await TestWorld.open()
        _ = try await world.realm.customers.createCustomer(
            CreateCustomerRequest(name: "ann", password: "correct horse"))
        return world
    }

    @Test(arguments: ["ann", "nobody"])
    func `guesses at an account have to wait, whether there is one or not`(
        name: String
    ) async throws {
        let world = try await worldWithAnn()
        var codes: [String?] = []
        for n in 1...7 {
            codes.append(try await guess(world, name, "guess \(n)")?.error.code)
        }
        let barred = try await guess(world, name, "correct horse")

        #expect(
            codes == Array(repeating: "signInRefused", count: 5) + [
                "tooManyAttempts", "tooManyAttempts",
            ])
        #expect(barred?.kind == .tooMany)
        #expect(barred?.retryAfterSeconds == 1)
        #expect(barred?.error.field == "customer")
        #expect(barred?.error.rule != nil && barred?.error.remedy != nil)
        world.wall.advance(seconds: 1)
        let later = try await guess(world, name, "correct horse")
        #expect(later?.error.code == (name == "ann" ? nil : "signInRefused"))
    }

    @Test func `the right password makes good the wrong ones before`() async throws {
        let world = try await worldWithAnn()
        for _ in 1...3 {
            for _ in 1...4 { _ = try await guess(world, "ANN", "wrong") }
            #expect(try await guess(world, "ann", "correct horse") == nil)
        }
    }

    @Test func `one account's guesses bar no other, one client's bar it from all`() async throws {
        let world = try await worldWithAnn()
        for n in 1...50 { _ = try await guess(world, "n\(n)", "x", from: "192.0.2.1") }

        let here = try await guess(world, "ann", "correct horse", from: "192.0.2.1")
        let elsewhere = try await guess(world, "ann", "correct horse", from: "192.0.2.2")

        #expect(here?.error.code == "tooManyAttempts")
        #expect(elsewhere == nil)
    }

    @Test func `a client's own account makes good none of its guesses at others`() async throws {
        let world = try await worldWithAnn()
        for n in 1...50 {
            _ = try await guess(world, "n\(n)", "x", from: "192.0.2.1")
            if n.isMultiple(of: 10), n < 50 {
                #expect(try await guess(world, "ann", "correct horse", from: "192.0.2.1") == nil)
            }
        }

        let barred = try await guess(
            world, "ann", "correct horse", from: "192.0.2.1", device: purchaseID(9))
        #expect(barred?.error.code == "tooManyAttempts")
    }

    @Test func `many devices may sign in at once`() async throws {
        let world = try await worldWithAnn()
        try await withThrowingTaskGroup(of: Refusal?.self) { group in
            for _ in 1...40 {
                group.addTask {
                    try await guess(world, "ann", "correct horse", from: "192.0.2.1")
                }
            }
            for try await refused in group { #expect(refused == nil) }
        }
    }

    @Test func `names are the same where their bytes are`() async throws {
        let limits = AttemptLimits()
        let now = TestWall.start
        let names = ["caf\u{E9}", "cafe\u{301}"]
        for _ in 1...6 {
            _ = try? await limits.attempt(
                AttemptLimits.SignIn(account: names[0], client: nil, knownDevice: nil),
                now: { now }
            ) { _ in false }
        }

        let other = try await limits.attempt(
            AttemptLimits.SignIn(account: names[1], client: nil, knownDevice: nil),
            now: { now }
        ) { _ in true }

        #expect(names[0] == names[1])
        #expect(other)
    }

    @Test func `what is remembered is bounded`() throws {
        let limits = AttemptLimits()
        let start = TestWall.start
        for n in 0..<(AttemptLimits.entriesMax + 5000) {
            limits.wrongKey(of: "client \(n)", at: start.adding(seconds: Int64(n / 100)))
        }

        #expect(limits.keyCount <= AttemptLimits.entriesMax)
        #expect(limits.keyCount > AttemptLimits.entriesMax / 2)
    }

    @Test func `a stranger's mistakes keep out no device that was here before`() async throws {
        let world = try await worldWithAnn()
        let (home, stranger) = ("192.0.2.1", "192.0.2.66")
        #expect(try await guess(world, "ann", "correct horse", from: home) == nil)
        // The twelfth mistake, after 15 minutes, has to be waited out for 256 s.
        for _ in 1...19 {
            _ = try await guess(world, "ann", "x", from: stranger, device: purchaseID(66))
            world.wall.advance(seconds: 60)
        }

        let barred = try await guess(
            world, "ann", "correct horse", from: stranger, device: purchaseID(66))
        let elsewhere = try await guess(world, "ann", "correct horse", from: "192.0.2.9")
        let newDevice = try await guess(
            world, "ann", "correct horse", from: home, device: purchaseID(2))
        let still = try await guess(
            world, "ann", "correct horse", from: stranger, device: purchaseID(66))

        #expect(barred?.error.code == "tooManyAttempts")
        #expect(elsewhere == nil)
        #expect(newDevice == nil)
        // What is right elsewhere makes good none of a stranger's mistakes.
        #expect(still?.error.code == "tooManyAttempts")
    }

    @Test func `a known device is limited by its own mistakes, not by its address`() async throws {
        let world = try await worldWithAnn()
        #expect(try await guess(world, "ann", "correct horse", from: "192.0.2.1") == nil)
        for n in 1...50 {
            _ = try await guess(world, "n\(n)", "x", from: "192.0.2.1", device: purchaseID(n))
        }
        #expect(try await guess(world, "ann", "correct horse", from: "192.0.2.1") == nil)

        for _ in 1...5 { _ = try await guess(world, "ann", "x", from: "192.0.2.1") }
        let barred = try await guess(world, "ann", "correct horse", from: "192.0.2.3")

        #expect(barred?.error.code == "tooManyAttempts")
    }

    @Test func `wrong keys keep out wrong keys, a right one always enters`() async throws {
        let world = try await TestWorld.open()
        let context = RequestContext(requestID: "test", client: "192.0.2.1")
        let own = try await world.store.createOperator(CreateOperatorRequest(name: "bea"), context)
        for _ in 1...1000 {
            #expect(
                try await world.store.knock("no key", at: .operator, context) == .refused)
        }

        let barred = try await refusal {
            try await world.store.knock("no key", at: .operator, context)
        }
        #expect(barred.error.code == "tooManyAttempts")
        #expect(barred.error.field == "Authorization")
        for door in Door.allCases {
            let key = try await world.store.doorKey(door)
            #expect(
                try await world.store.knock(key, at: door, context) == .admitted(as: door.rawValue))
        }
        #expect(
            try await world.store.knock(own.key, at: .operator, context) == .admitted(as: "bea"))
    }

    @Test func `a sandbox that is not open requires a password`() async throws {
        let world = try await TestWorld.open(opensSandboxes: false)

        let refused = try await refusal { try await world.signIn() }

        #expect(refused.error.code == "signInRefused")
    }

    @Test func `given keys stand in for those that the store made`() async throws {
        let given = String(repeating: "k", count: 32)
        let world = try await TestWorld.open(doorKeys: [.operator: given])

        #expect(try await world.store.doorKey(.operator) == given)
        #expect(try await world.store.doorKey(.control) != given)
    }
}
