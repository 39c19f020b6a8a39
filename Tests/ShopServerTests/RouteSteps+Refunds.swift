// SPDX-License-Identifier: Apache-2.0

/// Refunds of the transaction that the tour sells before it sets out.
extension RouteStep {
    static let refunds = [
        RouteStep(
            route: "PUT /operator/v1/transactions/{}/refund",
            good: Question(
                "/operator/v1/transactions/{sold}/refund", .operator,
                body: #"{"state":"declined"}"#),
            bad: Question(
                "/operator/v1/transactions/{sold}/refund", .operator,
                body: #"{"state":"reversed"}"#),
            code: "notRefunded"),
        RouteStep(
            route: "POST /control/v1/transactions/{}/refund-requests",
            good: Question(
                "/control/v1/transactions/{sold}/refund-requests", .control, body: "{}"),
            bad: Question(
                "/control/v1/transactions/{sold}/refund-requests", .control,
                body: #"{"reason":"MOON"}"#),
            code: "refundReasonUnknown"),
        RouteStep(
            route: "GET /operator/v1/refunds",
            good: Question("/operator/v1/refunds?state=requested", .operator),
            bad: Question("/operator/v1/refunds?state=moon", .operator),
            code: "refundStateUnknown"),
    ]
}
