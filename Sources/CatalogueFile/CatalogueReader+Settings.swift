// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import StrictJSON

/// Reads storefront, locale, settings, policies and the key for offers.
extension CatalogueReader {
    mutating func settings(_ root: Node, into contents: inout CatalogueContents) {
        let node = root["settings"] ?? Node(.object([]), "settings")
        guard isObject(node) else { return }
        if let storefront = text(node, "_storefront") {
            if Storefront.named(storefront) == nil {
                warn(
                    node.path(to: "_storefront"), "there is no storefront with this code",
                    "write three letters such as USA, which is used until then")
            } else {
                contents.catalogue.storefront = storefront
            }
        }
        if let locale = text(node, "_locale"), !locale.isEmpty {
            contents.catalogue.locale = locale
        }
        contents.catalogue.appID = appID(node)
        contents.settings = SandboxSettings(
            timeRate: timeRate(node), asksToBuy: boolean(node, "_askToBuyEnabled") ?? false,
            interruptsPurchases: boolean(node, "_billingIssuesEnabled") ?? false,
            failsRenewals: boolean(node, "_renewalBillingIssuesEnabled") ?? false,
            hasGracePeriod: boolean(node, "_billingGracePeriodEnabled") ?? false,
            disablesDialogs: boolean(node, "_disableDialogs") ?? false,
            errors: errors(node))
    }

    private mutating func appID(_ settings: Node) -> Int64? {
        guard let digits = text(settings, "_applicationInternalID") else { return nil }
        if let number = Int64(digits), number > 0, number < 1 << 53 { return number }
        let isDigits = !digits.isEmpty && digits.utf8.allSatisfy { (48...57).contains($0) }
        warn(
            settings.path(to: "_applicationInternalID"),
            isDigits ? "an app's number is 1 to 2^53 - 1" : "an app's number is decimal digits",
            isDigits
                ? "write the app's Apple ID, or leave the key out; it counts as unknown"
                : "write the app's Apple ID; it counts as unknown")
        return nil
    }

    private mutating func timeRate(_ settings: Node) -> TimeRate {
        guard settings["_timeRate"] != nil, let number = integer(settings, "_timeRate") else {
            return .real
        }
        if let rate = TimeRate(rawValue: number) { return rate }
        warn(
            settings.path(to: "_timeRate"), "the time rate \(number) is unknown",
            "choose one in the editor; real time is used until then")
        return .real
    }

    // MARK: Simulated errors

    private mutating func errors(_ settings: Node) -> [SimulatedError] {
        if settings["_storeKitErrors"] == nil { return oldError(settings) }
        var errors: [SimulatedError] = []
        for entry in list(settings, "_storeKitErrors") where isObject(entry) {
            if let error = error(entry) { errors.append(error) }
        }
        return errors
    }

    /// Before the list existed, one number made every purchase fail.
    private mutating func oldError(_ settings: Node) -> [SimulatedError] {
        let number = integer(settings, "_storeKitError") ?? 0
        guard boolean(settings, "_failTransactionsEnabled") == true else { return [] }
        if number != 0 {
            warn(
                settings.path(to: "_storeKitError"), "only the error 0, unknown, has a meaning",
                "purchases fail with it")
        }
        return [SimulatedError(call: .purchase, kind: .generic, index: 0)]
    }

    private mutating func error(_ entry: Node) -> SimulatedError? {
        guard let name = text(entry, "name"), let call = SimulatedError.Call(rawValue: name) else {
            warn(
                entry.path(to: "name"), "this call cannot be made to fail",
                "choose the error in the editor; it is ignored")
            return nil
        }
        guard boolean(entry, "enabled") == true else { return nil }
        guard let current = entry["current"], isObject(current) else {
            warn(
                entry.path(to: "current"),
                "an error that is switched on says with which error the call \(name) fails",
                "choose the error in Xcode's editor, or switch it off; until then the call "
                    + "succeeds")
            return nil
        }
        let kind = text(current, "type").flatMap(SimulatedError.Kind.init(rawValue:))
        let index = integer(current, "index")
        guard let kind, SimulatedError.kinds(of: call).contains(kind), let index,
            (0..<kind.count).contains(index)
        else {
            warn(
                current.path, "this call cannot end with this error",
                "choose one in the editor; the call succeeds")
            return nil
        }
        return SimulatedError(call: call, kind: kind, index: index)
    }

    // MARK: Policies and key

    mutating func policies(_ root: Node) -> AppPolicies {
        guard let node = root["appPolicies"], isObject(node) else { return AppPolicies() }
        var policies = AppPolicies()
        policies.licence = text(node, "eula") ?? ""
        for entry in list(node, "policies") where isObject(entry) {
            policies.policies.append(
                AppPolicies.Policy(
                    locale: text(entry, "locale") ?? "", text: text(entry, "policyText") ?? "",
                    url: text(entry, "policyURL") ?? ""))
        }
        return policies
    }

    mutating func offersKey(_ root: Node) -> OffersKey? {
        guard let node = root["subscriptionOffersKeyPair"], isObject(node) else { return nil }
        let id = text(node, "id") ?? ""
        let key = Data(
            base64Encoded: text(node, "privateKey") ?? "", options: .ignoreUnknownCharacters)
        // The shortest PKCS#8 of a P-256 key has 67 bytes.
        guard !id.isEmpty, let key, key.count >= 67 else {
            warn(
                node.path, "the key that signs offers has an id and is PKCS#8 in base64",
                "make one in the editor; offers cannot be signed")
            return nil
        }
        return OffersKey(id: id, privateKey: [UInt8](key))
    }
}
