// SPDX-License-Identifier: Apache-2.0

import Commerce
public import StoreWire

extension CatalogueRoom {
    /// Returns the settings of this sandbox for an app. Refusals: `sandboxOnly`
    /// in a production realm, which has no settings; `textInvalid`,
    /// `bundleIdUnknown`.
    public func settings(bundleID: String) async throws -> AppSettings {
        guard !realm.isProduction else {
            throw Refusal(
                .forbidden, code: "sandboxOnly", "A production realm has no switches.",
                field: "realm", rule: "the settings of a catalogue file are obeyed in sandboxes",
                remedy: "name a sandbox")
        }
        let app = try await app(bundleID)
        return AppSettings(app.settings, bundleID: app.bundleID)
    }
}

extension AppSettings {
    init(_ settings: SandboxSettings, bundleID: BundleID) {
        self.init(
            bundleId: bundleID.value, timeRate: Int64(settings.timeRate.rawValue),
            speed: settings.timeRate.speed, asksToBuy: settings.asksToBuy,
            interruptsPurchases: settings.interruptsPurchases,
            failsRenewals: settings.failsRenewals, hasGracePeriod: settings.hasGracePeriod,
            disablesDialogs: settings.disablesDialogs,
            errors: settings.errors.map {
                FailingCall(call: $0.call.rawValue, kind: $0.kind.rawValue, error: $0.word)
            },
            unobeyed: settings.unobeyed.map { "\($0.key): \($0.rule): \($0.remedy)" })
    }
}
