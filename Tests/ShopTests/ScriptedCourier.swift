// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import SignedData
import Storage
import StoreWire
import Synchronization
import Testing

@testable import Shop
@testable import Work

/// Keeps what it is given, and ends every attempt as it is told.
final class ScriptedCourier: Courier {
    private let state = Mutex<(parcels: [Parcel], next: [Delivery])>(([], []))

    /// What the next attempts come to; success when there is no more.
    init(_ next: Delivery...) { state.withLock { $0.next = next } }

    var parcels: [Parcel] { state.withLock { $0.parcels } }

    /// Sets what the next attempts come to.
    func script(_ next: [Delivery]) { state.withLock { $0.next = next } }

    func deliver(_ parcel: Parcel) async -> Delivery {
        state.withLock { state in
            state.parcels.append(parcel)
            return state.next.isEmpty ? Delivery(status: 200) : state.next.removeFirst()
        }
    }
}

extension TestWorld {
    static let url = "http://127.0.0.1:9/notifications"

    /// A world whose app has a URL.
    static func openWithURL(
        wall: TestWall = TestWall(), seed: Int64? = nil, randomness: UInt64 = 1
    ) async throws -> TestWorld {
        let world = try await open(wall: wall, seed: seed, randomness: randomness)
        try await world.realm.catalogue.setNotificationURL(
            url, bundleID: bundleID.value, context)
        return world
    }

    /// Tries everything in the outbox once, and records how it ended.
    @discardableResult
    func attempt(_ courier: ScriptedCourier) async throws -> [ErrandOutcome] {
        var outcomes: [ErrandOutcome] = []
        for (customer, cause) in try await causes() {
            let attempt = try await realm.merchant.attemptNotification(
                cause, of: customer, in: TestWorld.bundleID.value, by: courier)
            try await realm.storage(of: customer).write { try attempt.record($0) }
            outcomes.append(attempt.outcome)
        }
        return outcomes
    }

    func causes() async throws -> [(CustomerID, String)] {
        let tests = try await outbox(of: 0, in: realm.home)
        let sales = realm.isProduction ? [] : try await outbox()
        return try (tests + sales).map {
            (CustomerID(try $0.integer("customer_id")), try $0.text("cause"))
        }
    }

    /// What a parcel says, its signature checked.
    func opened(_ parcel: Parcel) throws -> ResponseBodyV2DecodedPayload {
        let body = try JSONDecoder().decode(ResponseBodyV2.self, from: Data(parcel.body))
        return try opened(body.signedPayload)
    }

    func opened(_ signedPayload: String?) throws -> ResponseBodyV2DecodedPayload {
        let verifier = NotificationVerifier(
            roots: [realm.authority.root], bundleID: Self.bundleID,
            environment: realm.description.environment)
        return try verifier.verify(try #require(signedPayload), now: nil).payload
    }

    /// A merchant's token, for Apple's door.
    func bearer(_ bundleID: String = TestWorld.bundleID.value) async throws -> String {
        let key = try await realm.merchant.createServerKey(bundleID: bundleID)
        return try BearerTokenSigner(
            privateKeyPEM: key.privateKey, keyID: key.keyId, issuerID: key.issuerId,
            bundleID: BundleID(bundleID)
        ).token(now: wall.clock.now, lifetimeSeconds: 300)
    }
}

/// The refusal of Apple's that an operation throws.
func appleError<Answer>(
    of operation: () async throws -> Answer, _ location: SourceLocation = #_sourceLocation
) async throws -> Int? {
    do { _ = try await operation() } catch let refusal as AppleRefusal {
        return refusal.response?.errorCode ?? refusal.status
    }
    Issue.record("nothing was refused", sourceLocation: location)
    return nil
}
