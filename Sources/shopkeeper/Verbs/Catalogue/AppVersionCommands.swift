// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import StoreWire

extension AppCommand {
    struct Version: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "version",
            abstract: "An app's versions, and the products that come with them.",
            discussion: """
                In production the first product of an app goes live with a version of the app: \
                add the version with the product, approve the product, put the version live.
                """,
            subcommands: [Add.self, Set.self, Live.self, List.self])
    }
}

extension AppCommand.Version {
    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "add", abstract: "Add a version; it waits until it is put live.")

        @Argument(help: "One to four numbers: 1.2.0.") var version: String
        @Option(name: .long, help: "A product that comes with it.") var product: [String] = []
        @OptionGroup var app: AppOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let (store, bundleID) = try app.found()
            let made = try await store.operatorDoor.post(
                "/apps/\(bundleID)/versions",
                CreateAppVersionRequest(version: version, products: product),
                as: AppVersionSummary.self)
            try printing.show(made, made.words)
        }
    }

    struct Set: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "set", abstract: "Replace the list of products of a waiting version.")

        @Argument(help: "The version, from `app version list`.") var version: String
        @Option(name: .long, help: "A product that comes with it.") var product: [String] = []
        @OptionGroup var app: AppOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let changed = try await app.change(version, AppVersionChange(products: product))
            try printing.show(changed, changed.words)
        }
    }

    struct Live: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "live",
            abstract: "Put a version live; its approved products go live with it.")

        @Argument(help: "The version, from `app version list`.") var version: String
        @OptionGroup var app: AppOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let changed = try await app.change(version, AppVersionChange(state: "live"))
            try printing.show(changed, changed.words)
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List an app's versions, oldest first.")

        @OptionGroup var app: AppOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let (store, bundleID) = try app.found()
            let versions = try await store.operatorDoor.get(
                "/apps/\(bundleID)/versions", as: AppVersionList.self
            ).versions
            try printing.show(
                versions,
                lines: Output.table(
                    versions.map {
                        [$0.version, $0.state, $0.products.joined(separator: " ")]
                    }))
        }
    }
}

extension AppOptions {
    fileprivate func change(
        _ version: String, _ change: AppVersionChange
    ) async throws -> AppVersionSummary {
        let (store, bundleID) = try found()
        return try await store.operatorDoor.patch(
            "/apps/\(bundleID)/versions/" + ProductRecord.escaped(version), change,
            as: AppVersionSummary.self)
    }
}

extension AppVersionSummary {
    var words: String {
        "\(version)  \(state)  "
            + (products.isEmpty ? "no products" : products.joined(separator: " "))
    }
}
