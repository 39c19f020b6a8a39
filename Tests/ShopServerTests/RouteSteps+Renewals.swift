// SPDX-License-Identifier: Apache-2.0

/// Subscriptions that customers have, and what operators and tests do to them.
extension RouteStep {
    private static let bulk = "00000000-0000-4000-8000-0000000000bb"

    static let renewals = [
        RouteStep(
            route: "GET /operator/v1/subscriptions",
            good: Question("/operator/v1/subscriptions?status=active", .operator),
            bad: Question("/operator/v1/subscriptions?status=moon", .operator),
            code: "statusUnknown"),
        RouteStep(
            route: "GET /operator/v1/subscriptions/{}",
            good: Question("/operator/v1/subscriptions/{subscription}", .operator),
            bad: Question("/operator/v1/subscriptions/7", .operator),
            code: "subscriptionNotFound"),
        RouteStep(
            route: "POST /control/v1/subscriptions/{}/renewals",
            good: Question(
                "/control/v1/subscriptions/{subscription}/renewals", .control, body: "{}"),
            bad: Question("/control/v1/subscriptions/7/renewals", .control, body: "{}"),
            code: "subscriptionNotFound"),
        RouteStep(
            route: "PUT /operator/v1/subscriptions/{}/renewal",
            good: Question(
                "/operator/v1/subscriptions/{subscription}/renewal", .operator,
                body: #"{"isRenewing":false}"#),
            bad: Question(
                "/operator/v1/subscriptions/x/renewal", .operator,
                body: #"{"isRenewing":true}"#),
            code: "subscriptionNotFound"),
        RouteStep(
            route: "POST /operator/v1/subscriptions/{}/extensions",
            good: Question(
                "/operator/v1/subscriptions/{subscription}/extensions", .operator,
                body: #"{"days":1}"#),
            bad: Question(
                "/operator/v1/subscriptions/{subscription}/extensions", .operator,
                body: #"{"days":91}"#),
            code: "daysOutOfRange"),
        RouteStep(
            route: "PUT /operator/v1/subscriptions/{}/price",
            good: Question(
                "/operator/v1/subscriptions/{subscription}/price", .operator,
                body: #"{"price":99990,"startDate":1800000000000}"#),
            bad: Question(
                "/operator/v1/subscriptions/{subscription}/price", .operator,
                body: #"{"price":1,"startDate":1800000000000}"#),
            code: "priceNotHigher"),
        RouteStep(
            route: "POST /operator/v1/apps/{}/bulk-changes",
            good: Question(
                "/operator/v1/apps/{app}/bulk-changes", .operator,
                body: #"{"productId":"paper","extendByDays":1,"requestId":"\#(bulk)"}"#),
            bad: Question(
                "/operator/v1/apps/{app}/bulk-changes", .operator,
                body: #"{"productId":"paper","extendByDays":2,"requestId":"\#(bulk)"}"#),
            code: "bulkChangeExists", seenElsewhere: [400, 404]),
        RouteStep(
            route: "GET /operator/v1/apps/{}/bulk-changes",
            good: Question("/operator/v1/apps/{app}/bulk-changes", .operator),
            bad: Question("/operator/v1/apps/{app}/bulk-changes?after=a", .operator),
            code: "cursorInvalid"),
        RouteStep(
            route: "GET /operator/v1/apps/{}/bulk-changes/{}",
            good: Question("/operator/v1/apps/{app}/bulk-changes/\(bulk)", .operator),
            bad: Question("/operator/v1/apps/{app}/bulk-changes/7", .operator),
            code: "bulkChangeUnknown"),
        RouteStep(
            route: "GET /operator/v1/customers/{}/history",
            good: Question("/operator/v1/customers/{customer}/history", .operator),
            bad: Question("/operator/v1/customers/7/history", .operator),
            code: "customerNotFound"),
        RouteStep(
            route: "PUT /control/v1/subscriptions/{}/consent",
            good: Question(
                "/control/v1/subscriptions/{subscription}/consent", .control,
                body: #"{"isAgreed":true}"#),
            bad: Question(
                "/control/v1/subscriptions/7/consent", .control, body: #"{"isAgreed":true}"#),
            code: "subscriptionNotFound"),
        RouteStep(
            route: "PUT /operator/v1/subscriptions/{}/product",
            good: Question(
                "/operator/v1/subscriptions/{subscription}/product", .operator,
                body: #"{"productId":"gazette"}"#),
            bad: Question(
                "/operator/v1/subscriptions/{subscription}/product", .operator,
                body: #"{"productId":"none"}"#),
            code: "productIdUnknown", seenElsewhere: [409]),
        RouteStep(
            route: "PUT /control/v1/subscriptions/{}/billing",
            good: Question(
                "/control/v1/subscriptions/{subscription}/billing", .control,
                body: #"{"failsBilling":true}"#),
            bad: Question(
                "/control/v1/subscriptions/{subscription}/billing", .operator,
                body: #"{"failsBilling":true}"#),
            code: "keyOfAnotherDoor"),
        RouteStep(
            route: "POST /control/v1/subscriptions/{}/expirations",
            good: Question(
                "/control/v1/subscriptions/{subscription}/expirations", .control, body: "{}"),
            bad: Question(
                "/control/v1/subscriptions/{subscription}/expirations", .control, body: "{}"),
            code: "subscriptionEnded"),
    ]
}
