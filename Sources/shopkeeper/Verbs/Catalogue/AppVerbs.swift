// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import StoreWire

/// The options for changing an app.
struct AppChangeOptions: ParsableArguments {
    @Option(name: .long, help: "A name for operators.") var name: String?
    @Option(name: .long, help: "The app's number.") var appId: Int64?
    @Option(name: .long, help: "The storefront of customers without their own, alpha-3.")
    var storefront: String?
    @Option(name: .long, help: "The preferred language of texts: en_US.") var locale: String?
    @Flag(inversion: .prefixedNo, help: "Whether the app may sell.")
    var purchasesEnabled: Bool?
    @Option(name: .long, help: "The days for which an unpaid renewal can be used: 0, 3, 16 or 28.")
    var gracePeriod: Int?
    @Option(
        name: .long,
        help: "The most renewals of a sandbox's subscription, as Apple's 12; 0 is no limit.")
    var renewalsMax: Int?

    var change: AppChange {
        AppChange(
            appAppleId: appId, name: name, storefront: storefront, locale: locale,
            purchasesEnabled: purchasesEnabled, gracePeriodDays: gracePeriod,
            renewalsMax: renewalsMax)
    }
}

extension AppCommand {
    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "create", abstract: "Create an app without products.")

        @Argument(help: "The app's bundle id.") var bundleId: String
        @OptionGroup var details: AppChangeOptions
        @OptionGroup var store: StoreOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let made = try await store.store().operatorDoor.post(
                "/apps", CreateAppRequest(bundleId: bundleId, details: details.change),
                as: AppSummary.self)
            try printing.show(made, made.words)
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show", abstract: "Show an app.")

        @OptionGroup var app: AppOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let (store, bundleID) = try app.found()
            let found = try await store.operatorDoor.get(
                "/apps/\(bundleID)", as: AppSummary.self)
            try Output.answer(json: found)
        }
    }

    struct Set: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "set", abstract: "Change an app; other fields keep their values.")

        @OptionGroup var details: AppChangeOptions
        @OptionGroup var app: AppOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let (store, bundleID) = try app.found()
            let changed = try await store.operatorDoor.patch(
                "/apps/\(bundleID)", details.change, as: AppSummary.self)
            try printing.show(changed, changed.words)
        }
    }

    struct Secret: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "shared-secret",
            abstract: "Print the app's shared secret, or replace it.")

        @Flag(name: .long, help: "Create a new secret; the earlier one becomes invalid.")
        var new = false
        @Option(help: "Set this one, which the app has in another realm too.") var set: String?
        @OptionGroup var app: AppOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let (store, bundleID) = try app.found()
            let path = "/apps/\(bundleID)/shared-secret"
            let door = store.operatorDoor
            let secret =
                new || set != nil
                ? try await door.post(
                    path, SharedSecretRequest(sharedSecret: set), as: SharedSecret.self)
                : try await door.get(path, as: SharedSecret.self)
            try printing.show(secret, secret.sharedSecret ?? "\(bundleID): no shared secret")
        }
    }
}

extension AppSummary {
    var words: String {
        "\(bundleId)  \(name)  \(storefront)  \(products) products, purchases "
            + (purchasesEnabled ? "enabled" : "not enabled")
            + (renewalsMax.map { ", at most \($0) renewals" } ?? "")
    }
}
