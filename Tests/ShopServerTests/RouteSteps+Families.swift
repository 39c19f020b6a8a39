// SPDX-License-Identifier: Apache-2.0

/// The family of the customer that the tour makes, and of the one who buys.
extension RouteStep {
    static let families = [
        RouteStep(
            route: "PUT /operator/v1/customers/{}/family/members/{}",
            good: Question(
                "/operator/v1/customers/{customer}/family/members/{kid}", .operator),
            bad: Question(
                "/operator/v1/customers/{kid}/family/members/{customer}", .operator),
            code: "notOrganiser"),
        RouteStep(
            route: "GET /operator/v1/customers/{}/family",
            good: Question("/operator/v1/customers/{kid}/family", .operator),
            bad: Question("/operator/v1/customers/7/family", .operator),
            code: "customerNotFound"),
        RouteStep(
            route: "PUT /operator/v1/customers/{}/family/sharing",
            good: Question(
                "/operator/v1/customers/{kid}/family/sharing", .operator,
                body: #"{"isSharing":false}"#),
            bad: Question(
                "/operator/v1/customers/7/family/sharing", .operator,
                body: #"{"isSharing":false}"#),
            code: "customerNotFound"),
        RouteStep(
            route: "DELETE /operator/v1/customers/{}/family/members/{}",
            good: Question(
                "/operator/v1/customers/{customer}/family/members/{kid}", .operator),
            bad: Question(
                "/operator/v1/customers/{customer}/family/members/{kid}", .operator),
            code: "notInFamily"),
    ]
}
