// SPDX-License-Identifier: Apache-2.0

import Commerce
import TestSupport

/// The table of ``EveryRouteTests``: for each route a request that is right
/// and one that is wrong, in an order in which each finds what it needs.
extension RouteStep {
    static let all =
        open + certificates + operators + devices + reviews + content + promotions + appPages
        + sessions
        + apples
        + merchants
        + controls + catalogues + administration + subscriptions + refunds + renewals + families
        + named

    /// Where nothing can be wrong but the method, that is.
    private static let open = [
        RouteStep(
            route: "GET /health", good: Question("/health", nil),
            bad: Question("/health", nil, body: #"{}"#, method: "POST"), code: "wrongMethod"),
        RouteStep(
            route: "GET /ready", good: Question("/ready", nil),
            bad: Question("/ready", nil, body: #"{}"#, method: "POST"), code: "wrongMethod"),
        RouteStep(
            route: "GET /certificates/root", good: Question("/certificates/root", nil),
            bad: Question("/certificates/root?kind=moon", nil), code: "queryInvalid"),
        RouteStep(
            route: "POST /verifyReceipt",
            good: Question("/verifyReceipt", nil, body: #"{"receipt-data":"moon"}"#),
            bad: Question("/verifyReceipt", nil, method: "DELETE"), code: nil),
        RouteStep(
            route: "GET /verifyReceipt", good: Question("/verifyReceipt", nil),
            bad: Question("/verifyReceipt", nil, method: "DELETE"), code: nil),
    ]

    private static let operators = [
        RouteStep(
            route: "GET /operator/v1/realms", good: Question("/operator/v1/realms", .operator),
            bad: Question("/operator/v1/realms", .control), code: "keyOfAnotherDoor"),
        RouteStep(
            route: "POST /operator/v1/realms",
            good: Question("/operator/v1/realms", .operator, body: #"{"name":"tour"}"#),
            bad: Question("/operator/v1/realms", .operator, body: #"{"name":"default"}"#),
            code: "realmExists"),
        RouteStep(
            route: "POST /operator/v1/realms/{}/resets",
            good: Question("/operator/v1/realms/tour/resets", .operator),
            bad: Question("/operator/v1/realms/live/resets", .operator),
            code: "realmIsProduction", seenElsewhere: [404]),
        RouteStep(
            route: "DELETE /operator/v1/realms/{}",
            good: Question("/operator/v1/realms/tour", .operator),
            bad: Question("/operator/v1/realms/nowhere", .operator), code: "realmNotFound"),
        RouteStep(
            route: "GET /operator/v1/customers",
            good: Question("/operator/v1/customers", .operator),
            bad: Question("/operator/v1/customers?limit=0", .operator), code: "queryInvalid"),
        RouteStep(
            route: "POST /operator/v1/customers",
            good: Question("/operator/v1/customers", .operator, body: #"{"name":"kid"}"#),
            bad: Question("/operator/v1/customers", .operator, body: #"{"name":"kid"}"#),
            code: "customerExists",
            told: ["kid=customerId"], seenElsewhere: [400]),
        RouteStep(
            route: "PATCH /operator/v1/customers/{}",
            good: Question(
                "/operator/v1/customers/{kid}", .operator, body: #"{"email":"kid@example.com"}"#),
            bad: Question("/operator/v1/customers/x", .operator, body: #"{}"#),
            code: "customerNotFound", seenElsewhere: [400]),
        RouteStep(
            route: "GET /operator/v1/purchases",
            good: Question("/operator/v1/purchases", .operator),
            bad: Question("/operator/v1/purchases?state=moon", .operator), code: "stateUnknown"),
        RouteStep(
            route: "PUT /operator/v1/purchases/{}/approval",
            good: Question(
                "/operator/v1/purchases/{waiting}/approval", .operator,
                body: #"{"answer":"approved"}"#),
            bad: Question(
                "/operator/v1/purchases/{waiting}/approval", .operator,
                body: #"{"answer":"perhaps"}"#),
            code: "answerUnknown"),
        RouteStep(
            route: "GET /operator/v1/server-keys",
            good: Question("/operator/v1/server-keys", .operator),
            bad: Question("/operator/v1/server-keys", .control), code: "keyOfAnotherDoor"),
        RouteStep(
            route: "POST /operator/v1/server-keys",
            good: Question("/operator/v1/server-keys", .operator, body: #"{"bundleId":"{app}"}"#),
            bad: Question(
                "/operator/v1/server-keys", .operator, body: #"{"bundleId":"com.example.nobody"}"#),
            code: "bundleIdUnknown", told: ["key=keyId"]),
        RouteStep(
            route: "GET /operator/v1/apps", good: Question("/operator/v1/apps", .operator),
            bad: Question("/operator/v1/apps", .control), code: "keyOfAnotherDoor"),
        RouteStep(
            route: "PUT /operator/v1/apps/{}/notification-url",
            good: Question(
                "/operator/v1/apps/{app}/notification-url", .operator,
                body: #"{"notificationUrl":"http://127.0.0.1:9/"}"#),
            bad: Question(
                "/operator/v1/apps/{app}/notification-url", .operator,
                body: #"{"notificationUrl":"moon"}"#),
            code: "notificationUrlInvalid"),
        RouteStep(
            route: "POST /operator/v1/notifications",
            good: Question(
                "/operator/v1/notifications", .operator,
                body: #"{"bundleId":"{app}","notificationType":"TEST"}"#),
            bad: Question(
                "/operator/v1/notifications", .operator,
                body: #"{"bundleId":"{app}","notificationType":"MOON"}"#),
            code: "notificationTypeUnknown",
            told: ["token=testNotificationToken"]),
        RouteStep(
            route: "GET /operator/v1/notifications/{}",
            good: Question("/operator/v1/notifications/{token}?bundleId={app}", .operator),
            bad: Question("/operator/v1/notifications/x?bundleId={app}", .operator),
            code: "notificationUnknown"),
    ]

    private static let zoo =
        #"{\"products\":[{\"displayPrice\":\"0.99\",\"localizations\":[],"#
        + #"\"productID\":\"zoo.banana\",\"promotionalImageID\":\"0A0B0C0D\","#
        + #"\"referenceName\":\"Banana\",\"type\":\"Consumable\"}]}"#
    private static let zoos = "/operator/v1/apps/com.example.zoo"

    /// Last: with a second app a device must say which it has.
    private static let catalogues = [
        RouteStep(
            route: "PUT /operator/v1/apps/{}/catalogue",
            good: Question(
                "\(zoos)/catalogue", .operator, body: #"{"name":"Zoo.storekit","file":"\#(zoo)"}"#),
            bad: Question(
                "\(zoos)/catalogue", .operator, body: #"{"name":"Zoo.storekit","file":"<plist/>"}"#),
            code: "catalogueInvalid"),
        RouteStep(
            route: "GET /operator/v1/apps/{}/catalogue",
            good: Question("\(zoos)/catalogue", .operator),
            bad: Question("/operator/v1/apps/com.example.none/catalogue", .operator),
            code: "bundleIdUnknown"),
        RouteStep(
            route: "PUT /operator/v1/apps/{}/images/{}",
            good: Question(
                "\(zoos)/images/0A0B0C0E", .operator,
                body: "hex:" + hexadecimal(SamplePicture.png(width: 7))),
            bad: Question("\(zoos)/images/0A0B0C0D", .operator, body: "no image"),
            code: "imageInvalid"),
        RouteStep(
            route: "GET /operator/v1/apps/{}/images/{}",
            good: Question("\(zoos)/images/0A0B0C0E", .operator),
            bad: Question("\(zoos)/images/0A0B0C0F", .operator), code: "imageUnknown"),
        RouteStep(
            route: "DELETE /operator/v1/apps/{}/images/{}",
            good: Question("\(zoos)/images/0A0B0C0E", .operator),
            bad: Question("\(zoos)/images/0A0B0C0E", .operator), code: "imageUnknown",
            seenElsewhere: [400, 409]),
        RouteStep(
            route: "GET /operator/v1/audit", good: Question("/operator/v1/audit", .operator),
            bad: Question("/operator/v1/audit?limit=0", .operator), code: "queryInvalid"),
    ]

    private static let devices = [
        RouteStep(
            route: "POST /device/v1/sessions",
            good: Question(
                "/device/v1/sessions", nil,
                body: #"{"deviceUUID":"0f0f0f0f-1111-4222-8333-444444444445","customer":"kid"}"#),
            bad: Question("/device/v1/sessions", nil, body: #"{"deviceUUID":"x"}"#),
            code: "uuidInvalid"),
        RouteStep(
            route: "POST /device/v1/products",
            good: Question("/device/v1/products", .device, body: #"{"ids":["credits.5"]}"#),
            bad: Question("/device/v1/products", .device, body: #"{}"#), code: "fieldMissing"),
        RouteStep(
            route: "POST /device/v1/offers",
            good: Question(
                "/device/v1/offers", .device, body: #"{"offer":{"kind":"code","code":"tour"}}"#),
            bad: Question(
                "/device/v1/offers", .device, body: #"{"offer":{"kind":"code","code":"none"}}"#),
            code: "offerCodeInvalid", seenElsewhere: [400]),
        RouteStep(
            route: "PUT /device/v1/purchases/{}",
            good: Question(
                "/device/v1/purchases/{purchase}", .device,
                body: #"{"productId":"credits.5","quantity":1,"unitPrice":990,"currency":"USD"}"#
            ),
            bad: Question(
                "/device/v1/purchases/x", .device,
                body: #"{"productId":"credits.5","quantity":1,"unitPrice":990,"currency":"USD"}"#
            ),
            code: "uuidInvalid"),
        RouteStep(
            route: "GET /device/v1/transactions",
            good: Question("/device/v1/transactions?since=0", .device),
            bad: Question("/device/v1/transactions?since=x", .device), code: "queryInvalid"),
        RouteStep(
            route: "GET /operator/v1/transactions",
            good: Question("/operator/v1/transactions", .operator),
            bad: Question("/operator/v1/transactions?limit=0", .operator), code: "queryInvalid",
            told: ["transaction=transactions.0.transactionId"]),
        RouteStep(
            route: "GET /operator/v1/transactions/{}",
            good: Question("/operator/v1/transactions/{transaction}", .operator),
            bad: Question("/operator/v1/transactions/1", .operator), code: "transactionNotFound"),
        RouteStep(
            route: "POST /device/v1/transactions/{}/finish",
            good: Question("/device/v1/transactions/{transaction}/finish", .device, body: #""#),
            bad: Question("/device/v1/transactions/1/finish", .device, body: #""#),
            code: "transactionNotFound"),
        RouteStep(
            route: "POST /device/v1/transactions/{}/refund-request",
            good: Question(
                "/device/v1/transactions/{sold}/refund-request", .device,
                body: #"{"reason":"UNINTENDED_PURCHASE"}"#),
            bad: Question(
                "/device/v1/transactions/1/refund-request", .device, body: #"{}"#),
            code: "transactionNotFound"),
        RouteStep(
            route: "GET /device/v1/price-increases",
            good: Question("/device/v1/price-increases", .device),
            bad: Question("/device/v1/price-increases", nil), code: "tokenMissing"),
        RouteStep(
            route: "PUT /device/v1/subscriptions/{}/price-consent",
            good: Question(
                "/device/v1/subscriptions/{leaflet}/price-consent", .device,
                body: #"{"price":5990}"#),
            bad: Question(
                "/device/v1/subscriptions/{leaflet}/price-consent", .device,
                body: #"{"price":5980}"#),
            code: "noPriceIncrease"),
        RouteStep(
            route: "GET /device/v1/receipt", good: Question("/device/v1/receipt", .device),
            bad: Question("/device/v1/receipt", nil), code: "tokenMissing"),
    ]

    private static let sessions = [
        RouteStep(
            route: "GET /operator/v1/sessions",
            good: Question("/operator/v1/sessions?customer={kid}", .operator),
            bad: Question("/operator/v1/sessions?after=x", .operator), code: "cursorInvalid",
            told: ["session=sessions.0.sessionId"]),
        RouteStep(
            route: "DELETE /operator/v1/sessions/{}",
            good: Question("/operator/v1/sessions/{session}", .operator),
            bad: Question("/operator/v1/sessions/x", .operator), code: "sessionNotFound"),
        RouteStep(
            route: "DELETE /operator/v1/customers/{}/sessions",
            good: Question("/operator/v1/customers/{kid}/sessions", .operator),
            bad: Question("/operator/v1/customers/x/sessions", .operator), code: "customerNotFound"),
    ]

    /// Nobody carries notifications here, so that none has been tried.
    private static let apples = [
        RouteStep(
            route: "GET /inApps/v1/transactions/{}",
            good: Question("/inApps/v1/transactions/{transaction}", .apple),
            bad: Question("/inApps/v1/transactions/x", .apple), code: nil),
        RouteStep(
            route: "POST /inApps/v1/notifications/test",
            good: Question("/inApps/v1/notifications/test", .apple),
            bad: Question("/inApps/v1/notifications/test", nil), code: nil,
            told: ["test=testNotificationToken"]),
        RouteStep(
            route: "GET /inApps/v1/notifications/test/{}",
            good: Question("/inApps/v1/notifications/test/{test}", .apple),
            expects: 404..<405,
            bad: Question("/inApps/v1/notifications/test/x", .apple), code: nil,
            // By NotificationDoorTests, where there is somebody to carry one.
            seenElsewhere: [200]),
        RouteStep(
            route: "POST /inApps/v1/notifications/history",
            good: Question(
                "/inApps/v1/notifications/history", .apple,
                body: #"{"startDate":{from},"endDate":{to}}"#),
            bad: Question("/inApps/v1/notifications/history", .apple, body: #"{}"#), code: nil),
    ]

    private static let controls = [
        RouteStep(
            route: "GET /control/v1/clock", good: Question("/control/v1/clock", .control),
            bad: Question("/control/v1/clock", .operator), code: "keyOfAnotherDoor"),
        RouteStep(
            route: "POST /control/v1/clock",
            good: Question("/control/v1/clock", .control, body: #"{"advanceMilliseconds":1}"#),
            bad: Question("/control/v1/clock", .control, body: #"{}"#), code: "clockMoveUnclear"),
        RouteStep(
            route: "GET /control/v1/clocks", good: Question("/control/v1/clocks", .control),
            bad: Question("/control/v1/clocks", .operator), code: "keyOfAnotherDoor"),
        RouteStep(
            route: "POST /control/v1/clocks",
            good: Question("/control/v1/clocks", .control, body: #"{"customers":["{kid}"]}"#),
            bad: Question("/control/v1/clocks", .control, body: #"{"customers":[]}"#),
            code: "customersUnclear", seenElsewhere: [404, 409]),
        RouteStep(
            route: "GET /control/v1/customers/{}/clock",
            good: Question("/control/v1/customers/{kid}/clock", .control),
            bad: Question("/control/v1/customers/9/clock", .control), code: "customerNotFound"),
        RouteStep(
            route: "POST /control/v1/customers/{}/clock",
            good: Question(
                "/control/v1/customers/{kid}/clock", .control, body: #"{"advanceMilliseconds":1}"#),
            bad: Question("/control/v1/customers/{kid}/clock", .control, body: #"{}"#),
            code: "clockMoveUnclear", seenElsewhere: [404, 409]),
        RouteStep(
            route: "DELETE /control/v1/customers/{}/clock",
            good: Question("/control/v1/customers/{kid}/clock", .control),
            bad: Question("/control/v1/customers/9/clock", .control), code: "customerNotFound"),
        RouteStep(
            route: "POST /control/v1/purchases",
            good: Question(
                "/control/v1/purchases", .control,
                body: #"{"bundleId":"{app}","customer":"{kid}","productId":"credits.5","#
                    + #""date":1600000000000}"#),
            bad: Question(
                "/control/v1/purchases", .control,
                body: #"{"bundleId":"{app}","customer":"{kid}","productId":"credits.5","#
                    + #""date":1}"#),
            code: "dateOutOfRange", seenElsewhere: [404, 409]),
        RouteStep(
            route: "POST /control/v1/snapshots",
            good: Question("/control/v1/snapshots", .control, body: #"{"name":"a"}"#),
            bad: Question("/control/v1/snapshots", .control, body: #"{"name":"A B"}"#),
            code: "snapshotNameInvalid"),
        RouteStep(
            route: "GET /control/v1/snapshots", good: Question("/control/v1/snapshots", .control),
            bad: Question("/control/v1/snapshots", .operator), code: "keyOfAnotherDoor"),
        RouteStep(
            route: "POST /operator/v1/realms/{}/branches",
            good: Question(
                "/operator/v1/realms/default/branches", .operator,
                body: #"{"snapshot":"a","name":"branch-of-a"}"#),
            bad: Question(
                "/operator/v1/realms/default/branches", .operator,
                body: #"{"snapshot":"b","name":"branch-of-b"}"#), code: "snapshotNotFound"),
        RouteStep(
            route: "POST /control/v1/snapshots/{}/loads",
            good: Question("/control/v1/snapshots/a/loads", .control),
            bad: Question("/control/v1/snapshots/b/loads", .control),
            code: "snapshotNotFound"),
        RouteStep(
            route: "DELETE /control/v1/snapshots/{}",
            good: Question("/control/v1/snapshots/a", .control),
            bad: Question("/control/v1/snapshots/a", .control), code: "snapshotNotFound"),
        RouteStep(
            route: "POST /control/v1/notifications",
            good: Question(
                "/control/v1/notifications", .control,
                body: #"{"bundleId":"{app}","notificationType":"DID_RENEW"}"#),
            bad: Question(
                "/control/v1/notifications", .control,
                body: #"{"bundleId":"com.example.none","notificationType":"MOON"}"#),
            code: "notificationTypeUnknown", told: ["hand=notificationUUID"],
            seenElsewhere: [404]),
        RouteStep(
            route: "POST /operator/v1/apps/{}/notifications/{}/attempts",
            good: Question(
                "/operator/v1/apps/{app}/notifications/{hand}/attempts", .operator,
                body: #"{"sendAttemptResult":"SUCCESS","status":200}"#),
            bad: Question(
                "/operator/v1/apps/{app}/notifications/x/attempts", .operator,
                body: #"{"sendAttemptResult":"SUCCESS"}"#),
            code: "notificationUnknown", seenElsewhere: [400]),
        RouteStep(
            route: "PUT /control/v1/faults/{}",
            good: Question(
                "/control/v1/faults/verify-receipt", .control, body: #"{"value":"21005"}"#),
            bad: Question("/control/v1/faults/verify-receipt", .control, body: #"{"value":"x"}"#),
            code: "faultInvalid", seenElsewhere: [404]),
        RouteStep(
            route: "GET /control/v1/faults", good: Question("/control/v1/faults", .control),
            bad: Question("/control/v1/faults", .operator), code: "keyOfAnotherDoor"),
        RouteStep(
            route: "DELETE /control/v1/faults/{}",
            good: Question("/control/v1/faults/verify-receipt", .control),
            bad: Question("/control/v1/faults/moon", .control), code: "faultUnknown"),
        RouteStep(
            route: "GET /control/v1/apps/{}/settings",
            good: Question("/control/v1/apps/com.example.monkeys/settings", .control),
            bad: Question("/control/v1/apps/x/settings", .control), code: "bundleIdUnknown"),
    ]
}
