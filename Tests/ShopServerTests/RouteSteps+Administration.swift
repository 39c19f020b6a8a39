// SPDX-License-Identifier: Apache-2.0

/// Steps about apps, products, keys and certificates.
extension RouteStep {
    private static let zoo = "/operator/v1/apps/com.example.safari"

    static let administration = [
        RouteStep(
            route: "POST /operator/v1/apps",
            good: Question(
                "/operator/v1/apps", .operator, body: #"{"bundleId":"com.example.safari"}"#),
            bad: Question(
                "/operator/v1/apps", .operator, body: #"{"bundleId":"com.example.safari"}"#),
            code: "appExists"),
        RouteStep(
            route: "GET /operator/v1/apps/{}", good: Question(zoo, .operator),
            bad: Question("/operator/v1/apps/com.example.none", .operator),
            code: "bundleIdUnknown"),
        RouteStep(
            route: "PATCH /operator/v1/apps/{}",
            good: Question(zoo, .operator, body: #"{"name":"Safari"}"#),
            bad: Question("/operator/v1/apps/com.example.none", .operator, body: "{}"),
            code: "bundleIdUnknown"),
        RouteStep(
            route: "GET /operator/v1/apps/{}/notifications",
            good: Question(zoo + "/notifications?onlyFailures=true", .operator),
            bad: Question(zoo + "/notifications?after=x", .operator), code: "cursorInvalid"),
        RouteStep(
            route: "GET /operator/v1/apps/{}/notifications/{}",
            good: Question(zoo + "/notifications/x", .operator), expects: 404..<405,
            bad: Question("/operator/v1/apps/com.example.none/notifications/x", .operator),
            // By HandNotificationTests, where one was sent.
            code: "bundleIdUnknown", seenElsewhere: [200]),
        RouteStep(
            route: "POST /operator/v1/apps/{}/shared-secret",
            good: Question(zoo + "/shared-secret", .operator, body: ""),
            bad: Question("/operator/v1/apps/com.example.none/shared-secret", .operator, body: ""),
            code: "bundleIdUnknown"),
        RouteStep(
            route: "GET /operator/v1/apps/{}/shared-secret",
            good: Question(zoo + "/shared-secret", .operator),
            bad: Question("/operator/v1/apps/com.example.none/shared-secret", .operator),
            code: "bundleIdUnknown"),
        RouteStep(
            route: "POST /operator/v1/apps/{}/products",
            good: Question(
                zoo + "/products", .operator, body: #"{"productId":"lion","type":"consumable"}"#),
            bad: Question(
                zoo + "/products", .operator, body: #"{"productId":"lion","type":"consumable"}"#),
            code: "productIdSpent"),
        RouteStep(
            route: "POST /operator/v1/apps/{}/versions",
            good: Question(
                zoo + "/versions", .operator, body: #"{"version":"1.0","products":["lion"]}"#),
            bad: Question(zoo + "/versions", .operator, body: #"{"version":"1.0"}"#),
            code: "versionExists", seenElsewhere: [400, 404]),
        RouteStep(
            route: "GET /operator/v1/apps/{}/versions",
            good: Question(zoo + "/versions", .operator),
            bad: Question("/operator/v1/apps/com.example.none/versions", .operator),
            code: "bundleIdUnknown"),
        RouteStep(
            route: "PATCH /operator/v1/apps/{}/versions/{}",
            good: Question(zoo + "/versions/1.0", .operator, body: #"{"state":"live"}"#),
            bad: Question(zoo + "/versions/1.0", .operator, body: #"{"products":[]}"#),
            code: "versionLive", seenElsewhere: [400, 404]),
        RouteStep(
            route: "GET /operator/v1/apps/{}/products",
            good: Question(zoo + "/products", .operator),
            bad: Question(zoo + "/products?limit=0", .operator), code: "queryInvalid"),
        RouteStep(
            route: "GET /operator/v1/apps/{}/products/{}",
            good: Question(zoo + "/products/lion", .operator),
            bad: Question(zoo + "/products/unicorn", .operator), code: "productIdUnknown"),
        RouteStep(
            route: "PATCH /operator/v1/apps/{}/products/{}",
            good: Question(
                zoo + "/products/lion", .operator, body: #"{"referenceName":"Lion"}"#),
            bad: Question(zoo + "/products/lion", .operator, body: #"{"state":"ready"}"#),
            code: "productIncomplete"),
        RouteStep(
            route: "GET /operator/v1/apps/{}/products/{}/why",
            good: Question(zoo + "/products/lion/why", .operator),
            bad: Question(zoo + "/products/lion/why?storefront=moon", .operator),
            code: "storefrontUnknown"),
        RouteStep(
            route: "DELETE /operator/v1/apps/{}/products/{}",
            good: Question(zoo + "/products/lion", .operator),
            bad: Question(zoo + "/products/unicorn", .operator), code: "productIdUnknown"),
        RouteStep(
            route: "DELETE /operator/v1/customers/{}/history",
            good: Question("/operator/v1/customers/{kid}/history", .operator),
            bad: Question("/operator/v1/customers/none/history", .operator),
            code: "customerNotFound", seenElsewhere: [409]),
        RouteStep(
            route: "DELETE /operator/v1/server-keys/{}",
            good: Question("/operator/v1/server-keys/{key}", .operator),
            bad: Question("/operator/v1/server-keys/none", .operator), code: "serverKeyUnknown"),
    ]

    /// Whether a certificate holds is answered in the standard's own words.
    static let certificates = [
        RouteStep(
            route: "GET /metrics", good: Question("/metrics", .metrics),
            bad: Question("/metrics", .operator), code: "keyOfAnotherDoor"),
        RouteStep(
            route: "POST /certificates/status",
            good: Question("/certificates/status", nil, body: "hex:3000"),
            bad: Question("/certificates/status", nil, method: "GET"), code: "wrongMethod"),
        RouteStep(
            route: "GET /certificates/status/{}",
            good: Question("/certificates/status/MAA=", nil),
            bad: Question("/certificates/status/MAA=", nil, body: "{}", method: "PUT"),
            code: "wrongMethod"),
        RouteStep(
            route: "GET /operator/v1/certificates",
            good: Question("/operator/v1/certificates", .operator),
            bad: Question("/operator/v1/certificates", .control), code: "keyOfAnotherDoor",
            told: ["serial=certificates.1.serialNumber"]),
        RouteStep(
            route: "POST /operator/v1/certificates/rotations",
            good: Question("/operator/v1/certificates/rotations", .operator, body: "{}"),
            bad: Question(
                "/operator/v1/certificates/rotations", .operator, body: #"{"kind":"moon"}"#),
            code: "kindUnknown"),
        RouteStep(
            route: "POST /operator/v1/certificates/revocations",
            good: Question(
                "/operator/v1/certificates/revocations", .operator,
                body: #"{"serialNumber":"{serial}"}"#),
            bad: Question(
                "/operator/v1/certificates/revocations", .operator,
                body: #"{"serialNumber":"00"}"#),
            code: "certificateUnknown"),
    ]
}
