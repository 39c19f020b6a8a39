// SPDX-License-Identifier: Apache-2.0

import HTTPShell
import Shop

/// Promoted products, for operators.
extension Routes {
    private static let list = "/operator/v1/apps/{}/promotions"

    private static let intents = "/operator/v1/customers/{}/purchase-intents"

    static let promotions: [Route] = [
        Route("GET", list, .realm(.operator)) {
            try .json(try await $0.realm.promotions.list(bundleID: $0.parts[0]))
        },
        Route("PUT", "/operator/v1/apps/{}/promotion-order", .realm(.operator)) {
            try .json(
                try await $0.realm.promotions.order(
                    try await $0.body(), bundleID: $0.parts[0], $0.context))
        },
        Route("PUT", list + "/{}", .realm(.operator)) {
            let bytes = try await $0.call.bodyBytes(max: PromotionRoom.imageBytesMax)
            return try .json(
                try await $0.realm.promotions.set(
                    $0.parts[1], bundleID: $0.parts[0], image: bytes,
                    visibility: $0.query("visibility"), $0.context))
        },
        Route("DELETE", list + "/{}", .realm(.operator)) {
            try await $0.realm.promotions.remove(
                $0.parts[1], bundleID: $0.parts[0], $0.context)
            return .done
        },
        Route("POST", intents, .realm(.operator)) {
            let (record, isNew) = try await $0.realm.promotions.choose(
                try await $0.body(), customer: try CustomerRoom.customerID($0.parts[0]),
                isAudited: true, $0.context)
            return try .json(record, status: isNew ? 201 : 200)
        },
        Route("GET", intents + "/{}", .realm(.operator)) {
            try .json(
                try await $0.realm.promotions.intent(
                    $0.parts[1], customer: try CustomerRoom.customerID($0.parts[0])))
        },
        Route("DELETE", intents + "/{}", .realm(.operator)) {
            try .json(
                try await $0.realm.promotions.cancel(
                    $0.parts[1], customer: try CustomerRoom.customerID($0.parts[0]),
                    isAudited: true, $0.context))
        },
        Route("GET", list + "/{}/image", .realm(.operator)) {
            let image = try await $0.realm.promotions.image(
                of: $0.parts[1], bundleID: $0.parts[0])
            return .bytes(image.bytes, type: image.type)
        },
    ]
}
