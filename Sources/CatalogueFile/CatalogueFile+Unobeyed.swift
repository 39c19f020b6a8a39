// SPDX-License-Identifier: Apache-2.0

import Commerce

extension CatalogueFile {
    /// Switches that are on and that the store stores and does not act upon:
    /// those of renewals, which are not sold yet, of the device's dialogs,
    /// and of calls that the store does not answer.
    public var unobeyed: [CatalogueProblem] {
        let settings = contents.settings
        let switches: [(Bool, String)] = [
            (settings.timeRate != .real, "_timeRate"),
            (settings.failsRenewals, "_renewalBillingIssuesEnabled"),
            (settings.hasGracePeriod, "_billingGracePeriodEnabled"),
            (settings.disablesDialogs, "_disableDialogs"),
        ]
        let on = switches.filter(\.0).map(\.1)
        let remedy = "it is stored, and the store goes on as if it were off"
        let obeyed: Set<SimulatedError.Call> = [.loadProducts, .purchase]
        return on.map {
            CatalogueProblem(
                file: name, keyPath: "settings.\($0)", rule: "this switch is not obeyed yet",
                remedy: remedy)
        }
            + settings.errors.filter { !obeyed.contains($0.call) }.map {
                CatalogueProblem(
                    file: name, keyPath: "settings._storeKitErrors",
                    rule: "the simulated error of \($0.call.rawValue) is not obeyed yet",
                    remedy: remedy)
            }
    }
}
