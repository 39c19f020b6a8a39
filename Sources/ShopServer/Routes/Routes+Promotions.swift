// SPDX-License-Identifier: Apache-2.0

import HTTPShell
import Shop

/// Promoted products, for operators.
extension Routes {
    private static let list = "/operator/v1/apps/{}/promotions"

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
        Route("GET", list + "/{}/image", .realm(.operator)) {
            let image = try await $0.realm.promotions.image(
                of: $0.parts[1], bundleID: $0.parts[0])
            return .bytes(image.bytes, type: image.type)
        },
    ]
}
