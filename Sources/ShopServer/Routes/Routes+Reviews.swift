// SPDX-License-Identifier: Apache-2.0

import HTTPShell
import Shop

/// Customers' reviews of apps: the operators' door.
extension Routes {
    private static let reviewPath = "/operator/v1/apps/{}/reviews"

    static let reviews: [Route] = [
        Route("GET", reviewPath, .realm(.operator)) {
            try .json(
                try await $0.realm.reviews.list(
                    bundleID: $0.parts[0], after: $0.query("after"), limit: try $0.limit()))
        },
        Route("PUT", reviewPath + "/{}/answer", .realm(.operator)) {
            try .json(
                try await $0.realm.reviews.answer(
                    $0.parts[1], bundleID: $0.parts[0], try await $0.body(), $0.context))
        },
        Route("DELETE", reviewPath + "/{}", .realm(.operator)) {
            try await $0.realm.reviews.remove($0.parts[1], bundleID: $0.parts[0], $0.context)
            return .done
        },
    ]
}
