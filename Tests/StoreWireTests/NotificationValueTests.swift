// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import StoreWire
import Testing

@Suite struct NotificationValueTests {
    private static let signed = Timestamp(milliseconds: 1_795_235_226_008)

    @Test func `a notification leaves out what it has not`() throws {
        var payload = ResponseBodyV2DecodedPayload()
        try expectGolden(payload, "{}")

        payload.notificationType = "TEST"
        payload.notificationUUID = "6b1f0b9e-2f5c-4d0e-9a57-0d6f3c1e8a11"
        payload.version = ResponseBodyV2DecodedPayload.currentVersion
        payload.signedDate = Self.signed
        var data = NotificationData()
        data.bundleId = "com.example.zoo"
        data.environment = "Sandbox"
        payload.data = data

        try expectGolden(
            payload,
            #"{"data":{"bundleId":"com.example.zoo","environment":"Sandbox"},"#
                + #""notificationType":"TEST","#
                + #""notificationUUID":"6b1f0b9e-2f5c-4d0e-9a57-0d6f3c1e8a11","#
                + #""signedDate":1795235226008,"version":"2.0"}"#)
    }

    @Test func `a notification of a purchase carries the signed transaction`() throws {
        var data = NotificationData()
        data.appAppleId = 6_700_000_001
        data.bundleId = "com.example.zoo"
        data.environment = "Production"
        data.signedTransactionInfo = "a.b.c"

        try expectGolden(
            data,
            #"{"appAppleId":6700000001,"bundleId":"com.example.zoo","#
                + #""environment":"Production","signedTransactionInfo":"a.b.c"}"#)
        try expectGolden(
            ResponseBodyV2(signedPayload: "a.b.c"), #"{"signedPayload":"a.b.c"}"#)
    }

    @Test func `answers about test notifications`() throws {
        try expectGolden(
            SendTestNotificationResponse(testNotificationToken: "t_1"),
            #"{"testNotificationToken":"t_1"}"#)
        try expectGolden(
            CheckTestNotificationResponse(
                signedPayload: "a.b.c",
                sendAttempts: [
                    SendAttemptItem(attemptDate: Self.signed, sendAttemptResult: .timedOut)
                ]),
            #"{"firstSendAttemptResult":"TIMED_OUT","sendAttempts":[{"#
                + #""attemptDate":1795235226008,"sendAttemptResult":"TIMED_OUT"}],"#
                + #""signedPayload":"a.b.c"}"#)
    }

    @Test func `a history's question and its answer`() throws {
        var question = NotificationHistoryRequest()
        question.startDate = Self.signed
        question.endDate = Self.signed.adding(seconds: 1)
        question.notificationType = "ONE_TIME_CHARGE"
        question.onlyFailures = true
        try expectGolden(
            question,
            #"{"endDate":1795235227008,"notificationType":"ONE_TIME_CHARGE","#
                + #""onlyFailures":true,"startDate":1795235226008}"#)

        let item = NotificationHistoryResponseItem(signedPayload: "a.b.c", sendAttempts: [])
        try expectGolden(
            NotificationHistoryResponse(notificationHistory: [item], paginationToken: "p"),
            #"{"hasMore":true,"notificationHistory":[{"sendAttempts":[],"#
                + #""signedPayload":"a.b.c"}],"paginationToken":"p"}"#)
        try expectGolden(
            NotificationHistoryResponse(notificationHistory: [], paginationToken: nil),
            #"{"hasMore":false,"notificationHistory":[]}"#)
    }

    @Test func `an unknown result of an attempt is kept`() throws {
        let read = try JSONDecoder().decode(
            [SendAttemptResult].self, from: Data(#"["OF_TOMORROW"]"#.utf8))

        #expect(read == [SendAttemptResult("OF_TOMORROW")])
    }
}
