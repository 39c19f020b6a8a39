// SPDX-License-Identifier: Apache-2.0

import Commerce

extension CatalogueFile {
    /// Switches that are on and that the store does not act upon: a purchase
    /// would end otherwise, were they obeyed.
    public var unobeyed: [CatalogueProblem] {
        let settings = contents.settings
        let switches: [(Bool, String)] = [
            (settings.asksToBuy, "_askToBuyEnabled"),
            (settings.interruptsPurchases, "_billingIssuesEnabled"),
        ]
        let on = switches.filter(\.0).map(\.1)
        let remedy = "purchases go on as if it were off"
        return on.map {
            CatalogueProblem(
                file: name, keyPath: "settings.\($0)", rule: "this switch is not obeyed yet",
                remedy: remedy)
        }
            + settings.errors.map {
                CatalogueProblem(
                    file: name, keyPath: "settings._storeKitErrors",
                    rule: "the simulated error of \($0.call.rawValue) is not obeyed yet",
                    remedy: remedy)
            }
    }
}
