// SPDX-License-Identifier: Apache-2.0

/// Steps about subscription groups, offers and operators.
extension RouteStep {
    private static let ark = "/operator/v1/apps/{app}"
    private static let none = "/operator/v1/apps/com.example.none"
    private static let pass = ark + "/products/pass"

    /// The tour makes the subscription `pass` in the group `pro` before it sets out.
    static let subscriptions = [
        RouteStep(
            route: "POST /operator/v1/apps/{}/groups",
            good: Question(
                ark + "/groups", .operator, body: #"{"groupId":"silver","name":"Pro"}"#),
            bad: Question(ark + "/groups", .operator, body: #"{"groupId":"silver"}"#),
            code: "groupExists", seenElsewhere: [400, 404]),
        RouteStep(
            route: "GET /operator/v1/apps/{}/groups", good: Question(ark + "/groups", .operator),
            bad: Question(none + "/groups", .operator), code: "bundleIdUnknown"),
        RouteStep(
            route: "PATCH /operator/v1/apps/{}/groups/{}",
            good: Question(ark + "/groups/silver", .operator, body: #"{"name":"All"}"#),
            bad: Question(ark + "/groups/none", .operator, body: #"{"name":"All"}"#),
            code: "groupUnknown", seenElsewhere: [400]),
        RouteStep(
            route: "POST /operator/v1/apps/{}/products/{}/offers",
            good: Question(
                pass + "/offers", .operator,
                body: #"{"kind":"introductory","paymentMode":"free","period":"P1W"}"#),
            bad: Question(
                pass + "/offers", .operator,
                body: #"{"kind":"introductory","paymentMode":"free","period":"P1W"}"#),
            code: "offerExists", seenElsewhere: [400, 404]),
        RouteStep(
            route: "GET /operator/v1/apps/{}/products/{}/offers",
            good: Question(pass + "/offers", .operator),
            bad: Question(ark + "/products/none/offers", .operator), code: "productIdUnknown"),
        RouteStep(
            route: "POST /operator/v1/apps/{}/offer-codes",
            good: Question(
                ark + "/offer-codes", .operator,
                body: #"{"productId":"pass","offer":"spring","code":"Spring26"}"#),
            bad: Question(
                ark + "/offer-codes", .operator,
                body: #"{"productId":"pass","offer":"spring","code":"SPRING26"}"#),
            code: "codeExists", seenElsewhere: [400, 404]),
        RouteStep(
            route: "GET /operator/v1/apps/{}/offer-codes",
            good: Question(ark + "/offer-codes", .operator),
            bad: Question(ark + "/offer-codes?after=a", .operator), code: "cursorInvalid"),
        RouteStep(
            route: "POST /operator/v1/apps/{}/offer-codes/{}/deactivation",
            good: Question(ark + "/offer-codes/SPRING26/deactivation", .operator, body: "{}"),
            bad: Question(ark + "/offer-codes/NONE/deactivation", .operator, body: "{}"),
            code: "offerCodeUnknown"),
        RouteStep(
            route: "DELETE /operator/v1/apps/{}/products/{}/offers/{}/{}",
            good: Question(pass + "/offers/introductory/any", .operator),
            bad: Question(pass + "/offers/introductory/any", .operator), code: "offerUnknown",
            seenElsewhere: [400, 409]),
        RouteStep(
            route: "DELETE /operator/v1/apps/{}/groups/{}",
            good: Question(ark + "/groups/silver", .operator),
            bad: Question(ark + "/groups/pro", .operator), code: "groupNotEmpty",
            seenElsewhere: [404]),
    ]

    /// Steps about those who have keys of their own.
    static let named = [
        RouteStep(
            route: "POST /operator/v1/operators",
            good: Question("/operator/v1/operators", .operator, body: #"{"name":"bob"}"#),
            bad: Question("/operator/v1/operators", .operator, body: #"{"name":"bob"}"#),
            code: "operatorNameSpent", seenElsewhere: [400]),
        RouteStep(
            route: "GET /operator/v1/operators",
            good: Question("/operator/v1/operators", .operator),
            bad: Question("/operator/v1/operators", .control), code: "keyOfAnotherDoor"),
        RouteStep(
            route: "DELETE /operator/v1/operators/{}",
            good: Question("/operator/v1/operators/bob", .operator),
            bad: Question("/operator/v1/operators/bob", .operator), code: "operatorUnknown"),
        RouteStep(
            route: "GET /operator/v1/store-audit",
            good: Question("/operator/v1/store-audit", .operator),
            bad: Question("/operator/v1/store-audit?after=x", .operator), code: "cursorInvalid"),
    ]
}
