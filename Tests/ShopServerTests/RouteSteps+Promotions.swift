// SPDX-License-Identifier: Apache-2.0

import Commerce
import TestSupport

/// Promoted products: one is there before the tour.
extension RouteStep {
    private static let list = "/operator/v1/apps/{app}/promotions"
    private static let order = "/operator/v1/apps/{app}/promotion-order"

    private static let page = "/operator/v1/apps/{app}/page"
    private static let intents = "/operator/v1/customers/{customer}/purchase-intents"
    private static let noIntent = "00000000-0000-4000-8000-000000000000"

    static let appPages = [
        RouteStep(
            route: "PATCH /operator/v1/apps/{}/page",
            good: Question(page, .operator, body: #"{"description":"Credits","featured":1}"#),
            bad: Question(page, .operator, body: #"{"featured":1001}"#), code: "featuredInvalid"),
        RouteStep(
            route: "GET /operator/v1/apps/{}/page",
            good: Question(page, .operator),
            bad: Question("/operator/v1/apps/com.example.none/page", .operator),
            code: "bundleIdUnknown"),
    ]

    static let promotions = [
        RouteStep(
            route: "PUT /operator/v1/apps/{}/promotions/{}",
            good: Question(
                list + "/pro?visibility=show", .operator,
                body: "hex:" + hexadecimal(SamplePicture.png())),
            bad: Question(list + "/pro", .operator, body: "hex:00"),
            code: "promotionImageInvalid"),
        RouteStep(
            route: "PUT /operator/v1/apps/{}/promotion-order",
            good: Question(order, .operator, body: #"{"products":["pro"]}"#),
            bad: Question(order, .operator, body: #"{"products":["pro","pro"]}"#),
            code: "entryTwice"),
        RouteStep(
            route: "GET /operator/v1/apps/{}/promotions",
            good: Question(list, .operator),
            bad: Question("/operator/v1/apps/com.example.none/promotions", .operator),
            code: "bundleIdUnknown"),
        RouteStep(
            route: "GET /operator/v1/apps/{}/promotions/{}/image",
            good: Question(list + "/pro/image", .operator),
            bad: Question(list + "/none/image", .operator), code: "promotionUnknown"),
        RouteStep(
            route: "PUT /device/v1/promotion-order",
            good: Question("/device/v1/promotion-order", .device, body: #"{"products":["pro"]}"#),
            bad: Question("/device/v1/promotion-order", .device, body: #"{"products":["x"]}"#),
            code: "productIdUnknown"),
        RouteStep(
            route: "PUT /device/v1/promotion-visibility",
            good: Question(
                "/device/v1/promotion-visibility", .device,
                body: #"{"productId":"pro","visibility":"hide"}"#),
            bad: Question(
                "/device/v1/promotion-visibility", .device,
                body: #"{"productId":"pro","visibility":"never"}"#),
            code: "visibilityUnknown"),
        RouteStep(
            route: "GET /device/v1/promotion-overrides",
            good: Question("/device/v1/promotion-overrides", .device),
            bad: Question("/device/v1/promotion-overrides", nil), code: "tokenMissing"),
        RouteStep(
            route: "POST /operator/v1/customers/{}/purchase-intents",
            good: Question(intents, .operator, body: #"{"bundleId":"{app}","productId":"pro"}"#),
            bad: Question(intents, .operator, body: #"{"bundleId":"{app}","productId":"x"}"#),
            code: "productIdUnknown", told: ["intent=intentId"], seenElsewhere: [200]),
        RouteStep(
            route: "GET /operator/v1/customers/{}/purchase-intents/{}",
            good: Question(intents + "/{intent}", .operator),
            bad: Question(intents + "/" + noIntent, .operator), code: "intentUnknown"),
        RouteStep(
            route: "DELETE /operator/v1/customers/{}/purchase-intents/{}",
            good: Question(intents + "/{intent}", .operator),
            bad: Question(intents + "/" + noIntent, .operator), code: "intentUnknown"),
        RouteStep(
            route: "POST /device/v1/purchase-intents",
            good: Question("/device/v1/purchase-intents", .device),
            bad: Question("/device/v1/purchase-intents", nil), code: "tokenMissing"),
        RouteStep(
            route: "PUT /device/v1/purchase-intents/{}",
            good: Question(
                "/device/v1/purchase-intents/{intent}", .device,
                body: #"{"outcome":"continued"}"#),
            bad: Question(
                "/device/v1/purchase-intents/{intent}", .device, body: #"{"outcome":"asked"}"#),
            code: "outcomeUnknown"),
        RouteStep(
            route: "DELETE /operator/v1/apps/{}/promotions/{}",
            good: Question(list + "/pro", .operator), bad: Question(list + "/none", .operator),
            code: "promotionUnknown"),
    ]
}
