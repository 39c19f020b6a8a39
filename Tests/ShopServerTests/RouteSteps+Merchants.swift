// SPDX-License-Identifier: Apache-2.0

/// What merchants' servers ask about transactions and subscriptions.
extension RouteStep {
    private static let request = "00000000-0000-4000-8000-0000000000cc"
    private static let terms =
        #""extendByDays":1,"extendReasonCode":1,"requestIdentifier":"\#(request)""#

    private static let report =
        #""customerConsented":true,"sampleContentProvided":false"#
    private static let reportV1 =
        #"{\#(report),"deliveryStatus":0,"consumptionStatus":1,"platform":1,"#
        + #""appAccountToken":"","accountTenure":1,"playTime":1,"lifetimeDollarsRefunded":1,"#
        + #""lifetimeDollarsPurchased":1,"userStatus":1,"refundPreference":1}"#

    static let merchants = [
        RouteStep(
            route: "GET /inApps/v1/lookup/{}",
            good: Question("/inApps/v1/lookup/M0000000000", .apple),
            bad: Question("/inApps/v1/lookup/M-1", .apple), code: nil),
        RouteStep(
            route: "GET /inApps/v1/transactions/appTransactions/{}",
            good: Question("/inApps/v1/transactions/appTransactions/{sold}", .apple),
            bad: Question("/inApps/v1/transactions/appTransactions/x", .apple), code: nil),
        RouteStep(
            route: "PUT /inApps/v2/transactions/consumption/{}",
            good: Question(
                "/inApps/v2/transactions/consumption/{sold}", .apple,
                body: #"{\#(report),"deliveryStatus":"DELIVERED"}"#),
            bad: Question("/inApps/v2/transactions/consumption/{sold}", .apple, body: "{}"),
            code: nil),
        RouteStep(
            route: "PUT /inApps/v1/transactions/consumption/{}",
            good: Question(
                "/inApps/v1/transactions/consumption/{sold}", .apple, body: reportV1),
            bad: Question("/inApps/v1/transactions/consumption/{sold}", .apple, body: "{}"),
            code: nil),
        RouteStep(
            route: "POST /inApps/v1/transactions/{}/finish",
            good: Question("/inApps/v1/transactions/{sold}/finish", .apple),
            bad: Question("/inApps/v1/transactions/x/finish", .apple), code: nil),
        RouteStep(
            route: "PUT /inApps/v1/transactions/{}/appAccountToken",
            good: Question(
                "/inApps/v1/transactions/{subscription}/appAccountToken", .apple,
                body: #"{"appAccountToken":"\#(request)"}"#),
            bad: Question(
                "/inApps/v1/transactions/{subscription}/appAccountToken", .apple, body: "{}"),
            code: nil),
        RouteStep(
            route: "GET /inApps/v2/history/{}",
            good: Question("/inApps/v2/history/{sold}?sort=DESCENDING", .apple),
            bad: Question("/inApps/v2/history/{sold}?sort=x", .apple), code: nil),
        RouteStep(
            route: "GET /inApps/v1/history/{}",
            good: Question("/inApps/v1/history/{sold}", .apple),
            bad: Question("/inApps/v1/history/{sold}?revision=x", .apple), code: nil),
        RouteStep(
            route: "GET /inApps/v2/refund/lookup/{}",
            good: Question("/inApps/v2/refund/lookup/{sold}", .apple),
            bad: Question("/inApps/v2/refund/lookup/{sold}?revision=x", .apple), code: nil),
        RouteStep(
            route: "GET /inApps/v1/refund/lookup/{}",
            good: Question("/inApps/v1/refund/lookup/{sold}", .apple),
            bad: Question("/inApps/v1/refund/lookup/x", .apple), code: nil),
        RouteStep(
            route: "GET /inApps/v1/subscriptions/{}",
            good: Question("/inApps/v1/subscriptions/{sold}?status=1", .apple),
            bad: Question("/inApps/v1/subscriptions/{sold}?status=9", .apple), code: nil),
        RouteStep(
            route: "PUT /inApps/v1/subscriptions/extend/{}",
            good: Question(
                "/inApps/v1/subscriptions/extend/{subscription}", .apple, body: "{\(terms)}"),
            bad: Question("/inApps/v1/subscriptions/extend/{subscription}", .apple, body: "{}"),
            code: nil),
        RouteStep(
            route: "POST /inApps/v1/subscriptions/extend/mass",
            good: Question(
                "/inApps/v1/subscriptions/extend/mass", .apple,
                body: #"{"productId":"paper",\#(terms)}"#),
            bad: Question("/inApps/v1/subscriptions/extend/mass", .apple, body: "{}"), code: nil),
        RouteStep(
            route: "GET /inApps/v1/subscriptions/extend/mass/{}/{}",
            good: Question("/inApps/v1/subscriptions/extend/mass/paper/\(request)", .apple),
            bad: Question("/inApps/v1/subscriptions/extend/mass/paper/x", .apple), code: nil),
    ]
}
