// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import SignedData
import StoreWire
import Testing

@testable import Shop

/// Realms of different environments in one store.
@Suite(.timeLimit(.minutes(5))) struct EnvironmentTests {
    /// What the realm is for, what the device is for, and the refusal.
    private static let table: [(Environment, String?, String?)] = [
        (.sandbox, nil, nil), (.sandbox, "Sandbox", nil),
        (.sandbox, "Production", "environmentMismatch"),
        (.sandbox, "LocalTesting", "environmentMismatch"),
        (.sandbox, "sandbox", "environmentUnknown"), (.sandbox, "", "environmentUnknown"),
        (.production, nil, nil), (.production, "Production", nil),
        (.production, "Sandbox", "environmentMismatch"),
        (.xcode, "Xcode", nil), (.xcode, "Sandbox", "environmentMismatch"),
        (.localTesting, "LocalTesting", nil), (.localTesting, nil, nil),
    ]

    @Test(arguments: table)
    func `a device gets into no other environment than its own`(
        own: Environment, asked: String?, code: String?
    ) async throws {
        let world = try await TestWorld.open(
            realm: "world", environment: own)
        _ = try await world.realm.customers.createCustomer(
            CreateCustomerRequest(name: "ann", password: "correct horse"))
        func signIn(_ password: String) async throws -> SignInResponse {
            try await world.realm.customers.signIn(
                SignInRequest(
                    deviceUUID: TestWorld.deviceUUID, environment: asked, customer: "ann",
                    password: password), TestWorld.context)
        }
        guard let code else {
            #expect(try await signIn("correct horse").realm.environment == own)
            return
        }
        // The password makes no difference.
        for password in ["correct horse", "wrong"] {
            let refused = try await refusal { try await signIn(password) }
            #expect(refused.error.code == code && refused.error.field == "environment")
            #expect(refused.error.rule != nil && refused.error.remedy != nil)
        }
    }

    @Test func `a wrong sign-in is told whose customers these are`() async throws {
        for (environment, word) in [(Environment.production, "testers"), (.sandbox, "customers")] {
            let world = try await TestWorld.open(realm: "world", environment: environment)
            let refused = try await refusal {
                try await world.signIn(customer: "nobody", password: "wrong")
            }
            #expect(refused.error.code == "signInRefused")
            #expect(refused.error.rule?.contains(word) == true)
        }
    }

    @Test(arguments: [Environment.xcode, .localTesting])
    func `a realm for local tests signs with its word`(environment: Environment) async throws {
        let world = try await TestWorld.open(realm: "world", environment: environment)
        let session = try await world.session()
        let sold = try await world.buy("pro", purchaseID(1), session: session)
        let payload = try TransactionVerifier(
            roots: [world.realm.authority.root], bundleID: TestWorld.bundleID,
            environment: environment
        ).verify(try #require(sold.signedTransaction), now: nil).payload
        let receipt = try await world.receiptText(session)
        let answer = try await world.verify(receipt)
        // It is a sandbox in everything else.
        _ = try await world.realm.moveClock(
            MoveClockRequest(advancePeriod: "P1D"), TestWorld.context)

        #expect(payload.environment == environment.rawValue)
        #expect(answer["environment"] as? String == environment.rawValue)
        let type = (answer["receipt"] as? [String: Any])?["receipt_type"] as? String
        #expect(type == (environment == .xcode ? "Xcode" : "ProductionSandbox"))
        #expect(world.realm.processor == nil && world.realm.authoriserKind == .rule)
    }

    @Test func `a branch has the environment of its realm`() async throws {
        let world = try await TestWorld.open(realm: "world", environment: .localTesting)
        guard !TestClusters.areShared else { return }
        _ = try await world.realm.keeping.saveSnapshot(
            SaveSnapshotRequest(name: "a"), TestWorld.context)
        let made = try await world.store.branchRealm(
            named: "world", BranchRealmRequest(snapshot: "a", name: "branch"), TestWorld.context)

        #expect(made.environment == .localTesting)
        let branch = try await world.store.realm(named: "branch")
        #expect(branch.description.environment == .localTesting)
    }

    @Test func `what is no environment makes no realm`() async throws {
        let world = try await TestWorld.open()
        let refused = try await refusal {
            try await world.store.createRealm(
                CreateRealmRequest(name: "x", environment: Environment(rawValue: "Moon")))
        }
        #expect(refused.error.code == "environmentUnknown")
    }
}
