// SPDX-License-Identifier: Apache-2.0

import Commerce
import SignedData
import StoreWire
import Testing

@Suite struct NotificationVerifierTests {
    private static func notification(
        bundleID: String? = Sample.bundleID.value, environment: String? = "Sandbox",
        hasData: Bool = true
    ) throws -> String {
        var payload = ResponseBodyV2DecodedPayload()
        payload.notificationType = "ONE_TIME_CHARGE"
        payload.notificationUUID = "6b1f0b9e-2f5c-4d0e-9a57-0d6f3c1e8a11"
        payload.version = ResponseBodyV2DecodedPayload.currentVersion
        payload.signedDate = Sample.now
        if hasData {
            var data = NotificationData()
            data.bundleId = bundleID
            data.environment = environment
            data.signedTransactionInfo =
                try Sample.authority().transactions.sign(Sample.transaction())
            payload.data = data
        }
        return try Sample.authority().transactions.sign(payload)
    }

    private static func verifier() throws -> NotificationVerifier {
        NotificationVerifier(
            roots: [try Sample.authority().root], bundleID: Sample.bundleID,
            environment: .sandbox)
    }

    @Test func `a notification and the transaction in it verify`() throws {
        let signed = try Self.notification()

        let verified = try Self.verifier().verify(signed, now: Sample.now)

        #expect(verified.compact == signed)
        #expect(verified.payload.notificationType == "ONE_TIME_CHARGE")
        let inner = try #require(verified.payload.data?.signedTransactionInfo)
        let transaction = try Sample.verifier().verify(inner, now: Sample.now)
        #expect(transaction.payload == Sample.transaction())
    }

    @Test func `what is for others, or about nothing, is refused`() throws {
        let cases: [(String, VerificationFailure.Code)] = [
            (try Self.notification(bundleID: "com.example.other"), .bundleID),
            (try Self.notification(bundleID: nil), .bundleID),
            (try Self.notification(environment: "Production"), .environment),
            (try Self.notification(environment: nil), .environment),
            (try Self.notification(hasData: false), .malformed),
        ]
        for (signed, code) in cases {
            let failure = #expect(throws: VerificationFailure.self) {
                try Self.verifier().verify(signed, now: Sample.now)
            }
            #expect(failure?.code == code)
        }
    }

    @Test func `another store's, a spoilt one and one of tomorrow are refused`() throws {
        let signed = try Self.notification()
        let others = NotificationVerifier(
            roots: [try Sample.foreignAuthority().root], bundleID: Sample.bundleID,
            environment: .sandbox)

        #expect(throws: VerificationFailure.self) { try others.verify(signed, now: nil) }
        #expect(throws: VerificationFailure.self) {
            try Self.verifier().verify(signed + "A", now: nil)
        }
        let early = Sample.now.adding(seconds: -3600)
        #expect(throws: VerificationFailure.self) {
            try Self.verifier().verify(signed, now: early)
        }
    }
}
