// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation

/// The countries and regions of the pages' chooser, by name.
enum PageStorefronts {
    private static let named: [(code: String, name: String)] = {
        let english = Locale(identifier: "en")
        return Storefront.all.map { place in
            let name = english.localizedString(forRegionCode: place.region)
            return (place.countryCode, name ?? place.countryCode)
        }.sorted { $0.name < $1.name }
    }()

    static func options(chosen: Storefront?) -> [[String: Any]] {
        let first: [[String: Any]] =
            chosen == nil ? [["code": "", "name": "Of each app", "isChosen": true]] : []
        return first
            + named.map { place in
                [
                    "code": place.code, "name": place.name,
                    "isChosen": place.code == chosen?.countryCode,
                ]
            }
    }
}
