// SPDX-License-Identifier: Apache-2.0

import HTTPShell
import Shop

/// What the store's pages show of apps beside their products, for operators.
extension Routes {
    private static let page = "/operator/v1/apps/{}/page"

    static let appPages: [Route] = [
        Route("GET", page, .realm(.operator)) {
            try .json(try await $0.realm.catalogue.appPage($0.parts[0]))
        },
        Route("PATCH", page, .realm(.operator)) {
            try .json(
                try await $0.realm.catalogue.changeAppPage(
                    $0.parts[0], try await $0.body(), $0.context))
        },
    ]
}
