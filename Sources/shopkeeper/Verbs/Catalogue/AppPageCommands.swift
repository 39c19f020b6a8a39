// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import StoreWire

extension AppCommand {
    struct Page: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "page",
            abstract: "What the store's page of an app shows beside its products.",
            discussion: """
                Without an option, the present state is printed. Other fields keep their values. \
                The icon is an image of the app, 1024 × 1024 pixels, that `app image put` has sent.
                """)

        @Option(name: .long, help: "What the app is; an empty text removes it.")
        var description: String?
        @Option(name: .long, help: "The id of an image of the app.") var icon: String?
        @Flag(name: .long, help: "Show no icon.") var noIcon = false
        @Option(name: .long, help: "What the app itself costs, in words; an empty text removes it.")
        var price: String?
        @Option(name: .long, help: "Where customers get the app; an empty text removes it.")
        var url: String?
        @Option(
            name: .long,
            help: "The app's position among those that the store's first page features.")
        var featured: Int?
        @Flag(name: .long, help: "Do not feature the app.") var notFeatured = false
        @OptionGroup var app: AppOptions
        @OptionGroup var printing: PrintOptions

        func validate() throws {
            guard icon == nil || !noIcon else {
                throw ValidationError("Give either --icon or --no-icon.")
            }
            guard featured == nil || !notFeatured else {
                throw ValidationError("Give either --featured or --not-featured.")
            }
        }

        func run() async throws {
            let change = AppPageChange(
                description: description, icon: noIcon ? "" : icon, price: price, url: url,
                featured: notFeatured ? 0 : featured)
            let (store, bundleID) = try app.found()
            let (door, path) = (store.operatorDoor, "/apps/\(bundleID)/page")
            let page =
                change == AppPageChange()
                ? try await door.get(path, as: AppPageRecord.self)
                : try await door.patch(path, change, as: AppPageRecord.self)
            try printing.show(page, lines: page.lines)
        }
    }
}

extension AppPageRecord {
    var lines: [String] {
        let place = featured.map { "featured at \($0)" } ?? "not featured"
        let facts = [icon.map { "icon \($0)" } ?? "no icon", place, price, url]
        return [
            "\(bundleId)  \(facts.compactMap { $0 }.joined(separator: ", "))",
            description ?? "no description",
        ]
    }
}
