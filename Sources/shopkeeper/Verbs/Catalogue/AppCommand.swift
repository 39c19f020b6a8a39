// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import Live
import StoreWire

struct AppCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "app", abstract: "The apps of a realm.",
        subcommands: [
            Create.self, List.self, Show.self, Set.self, NotificationURL.self, Secret.self,
            Version.self, Image.self, Page.self,
        ])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List the apps.")

        @OptionGroup var store: StoreOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let apps = try await store.store().operatorDoor.get("/apps", as: AppList.self).apps
            try printing.show(
                apps,
                lines: Output.table(
                    apps.map {
                        [$0.bundleId, $0.name, $0.notificationUrl ?? "no notifications"]
                    }))
        }
    }

    struct NotificationURL: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "notification-url",
            abstract: "Set or print the URL that gets an app's notifications.")

        @Argument(help: "The URL; without one, the present URL is printed.") var url: String?
        @Flag(name: .long, help: "Send no notifications.") var none = false
        @Flag(
            name: .long,
            help: "Send version 1, unsigned, as Apple does to servers that never changed.")
        var v1 = false
        @Option(name: .long, help: "The app; default: the served one.") var bundleId: String?
        @OptionGroup var store: StoreOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            guard url == nil || !none else {
                throw Failure(
                    .usage, "urlUnclear", "Both a URL and --none were given.", field: "--none",
                    rule: "one of them")
            }
            let found = try store.store()
            let bundleID = bundleId ?? found.run.bundleId
            let app = try await app(bundleID, found)
            let version = app.notificationVersion == 1 ? " (version 1)" : ""
            try printing.show(
                app,
                app.notificationUrl.map { $0 + version }
                    ?? "\(app.bundleId): no notifications")
        }

        private func app(_ bundleID: String, _ found: RunningStore) async throws -> AppSummary {
            if url != nil || none {
                return try await found.operatorDoor.put(
                    "/apps/\(bundleID)/notification-url",
                    SetNotificationURLRequest(
                        notificationUrl: url, notificationVersion: v1 ? 1 : nil),
                    as: AppSummary.self)
            }
            let apps = try await found.operatorDoor.get("/apps", as: AppList.self).apps
            guard let app = apps.first(where: { $0.bundleId == bundleID }) else {
                throw Failure(
                    .no, "bundleIdUnknown", "The realm has no app \(bundleID).",
                    field: "--bundle-id", remedy: "list them with `shopkeeper app list`")
            }
            return app
        }
    }
}
