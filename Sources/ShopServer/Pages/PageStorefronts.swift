// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import Mustache

/// The countries and regions of the pages' chooser, by name.
enum PageStorefronts {
    private static let named: [(code: String, name: String)] = {
        let english = Locale(identifier: "en")
        return Storefront.all.map { place in
            let name = english.localizedString(forRegionCode: place.region)
            return (place.countryCode, name ?? place.countryCode)
        }.sorted { $0.name < $1.name }
    }()

    /// The option of each in HTML.
    private static let options: [(code: String, html: String)] = named.map { place in
        let facts = ["storefronts": [["code": place.code, "name": place.name]]]
        return (place.code, PageText.library?.render(facts, withTemplate: "storefronts") ?? "")
    }
    private static let all = options.map(\.html).joined()

    /// The options of the chooser in HTML.
    static func html(chosen storefront: Storefront?) -> String {
        guard let code = storefront?.countryCode else {
            return "<option value=\"\" selected>Of each app</option>\n\(all)"
        }
        let value = "value=\"\(code)\""
        return options.map { option in
            option.code == code
                ? option.html.replacing(value, with: value + " selected") : option.html
        }.joined()
    }
}
