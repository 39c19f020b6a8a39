// SPDX-License-Identifier: Apache-2.0

/// A review, from the request to its removal.
extension RouteStep {
    private static let path = "/operator/v1/apps/{app}/reviews"

    static let reviews = [
        RouteStep(
            route: "POST /device/v1/reviews/requests",
            good: Question("/device/v1/reviews/requests", .device, body: "{}"),
            bad: Question("/device/v1/reviews/requests", .device, body: #"{"isBeta":1}"#),
            code: "fieldInvalid"),
        RouteStep(
            route: "PUT /device/v1/review",
            good: Question("/device/v1/review", .device, body: #"{"stars":4,"text":"Fine."}"#),
            bad: Question("/device/v1/review", .device, body: #"{"stars":6}"#),
            code: "starsInvalid"),
        RouteStep(
            route: "GET /operator/v1/apps/{}/reviews", good: Question(path, .operator),
            bad: Question(path + "?after=moon", .operator), code: "cursorInvalid"),
        RouteStep(
            route: "PUT /operator/v1/apps/{}/reviews/{}/answer",
            good: Question(path + "/{customer}/answer", .operator, body: #"{"text":"Thanks."}"#),
            bad: Question(path + "/{customer}/answer", .operator, body: #"{"text":""}"#),
            code: "reviewTextInvalid"),
        RouteStep(
            route: "DELETE /operator/v1/apps/{}/reviews/{}",
            good: Question(path + "/{customer}", .operator),
            bad: Question(path + "/1", .operator), code: "reviewNotFound"),
    ]
}
