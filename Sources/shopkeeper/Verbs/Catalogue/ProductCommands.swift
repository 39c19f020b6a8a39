// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Commerce
import Foundation
import StoreWire

struct ProductCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "product", abstract: "The products of an app.",
        subcommands: [
            Create.self, Set.self, Approve.self, List.self, Show.self, Remove.self,
        ])

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "create", abstract: "Create a product: a draft, unless --state is given.",
            discussion: "Add its offers with `offer add`.")

        @Argument(help: "1 to 100 letters, digits, `-`, `.`, `_`; never used again.")
        var product: String
        @Option(name: .long, help: "consumable, non-consumable, auto-renewable, non-renewing.")
        var type = "consumable"
        @Option(name: .long, help: "The group's id, for an auto-renewable.") var group: String?
        @Option(name: .long, help: "The period of an auto-renewable, ISO 8601: P1M.") var period:
            String?
        @OptionGroup var details: ProductOptions
        @OptionGroup var app: AppOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let (store, bundleID) = try app.found()
            let made = try await store.operatorDoor.post(
                "/apps/\(bundleID)/products",
                CreateProductRequest(
                    productId: product, type: type, groupId: group, period: period,
                    details: try details.change(of: nil)), as: ProductRecord.self)
            try printing.show(made, made.words)
        }
    }

    struct Set: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "set", abstract: "Change a product; other fields keep their values.")

        @Argument(help: "The product's id, from `product list`.") var product: String
        @OptionGroup var details: ProductOptions
        @OptionGroup var app: AppOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let (store, bundleID) = try app.found()
            let door = store.operatorDoor
            let path = ProductRecord.path(product, of: bundleID)
            let known = try await door.get(path, as: ProductRecord.self)
            let changed = try await door.patch(
                path, try details.change(of: known), as: ProductRecord.self)
            try printing.show(changed, changed.words)
        }
    }

    struct Approve: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "approve", abstract: "Approve a product, so that production sells it.")

        @Argument(help: "The product's id, from `product list`.") var product: String
        @OptionGroup var app: AppOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let (store, bundleID) = try app.found()
            var change = ProductChange()
            change.state = "approved"
            let changed = try await store.operatorDoor.patch(
                ProductRecord.path(product, of: bundleID), change, as: ProductRecord.self)
            try printing.show(changed, changed.words)
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List an app's products, including drafts and withdrawn ones.")

        @OptionGroup var app: AppOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let (store, bundleID) = try app.found()
            var products: [ProductRecord] = []
            var query = ""
            while true {
                let page = try await store.operatorDoor.get(
                    "/apps/\(bundleID)/products" + query, as: ProductRecords.self)
                products += page.products
                guard let next = page.next else { break }
                query = "?after=" + ProductRecord.escaped(next)
            }
            try printing.show(
                products,
                lines: Output.table(
                    products.map {
                        [$0.productId, $0.type, $0.standing, $0.shownPrice, $0.referenceName]
                    }))
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show", abstract: "Show a product.")

        @Argument(help: "The product's id, from `product list`.") var product: String
        @OptionGroup var app: AppOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let (store, bundleID) = try app.found()
            let record = try await store.operatorDoor.get(
                ProductRecord.path(product, of: bundleID), as: ProductRecord.self)
            try Output.answer(json: record)
        }
    }

    struct Remove: AsyncParsableCommand {
        private struct Removed: Encodable { let removed: String }

        static let configuration = CommandConfiguration(
            commandName: "remove", abstract: "Remove a product; its id is never used again.")

        @Argument(help: "The product's id, from `product list`.") var product: String
        @OptionGroup var app: AppOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let (store, bundleID) = try app.found()
            try await store.operatorDoor.delete(ProductRecord.path(product, of: bundleID))
            try printing.show(Removed(removed: product), "Removed \(product).")
        }
    }
}

extension ProductRecord {
    static func path(_ product: String, of bundleID: String) -> String {
        "/apps/\(bundleID)/products/" + escaped(product)
    }

    /// Escapes text for an address.
    static func escaped(_ text: String) -> String {
        let plain = CharacterSet(
            charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._")
        return text.addingPercentEncoding(withAllowedCharacters: plain) ?? text
    }

    var standing: String { isWithdrawn ? "withdrawn" : state }

    var shownPrice: String {
        let base = price.map { Amount(milliunits: $0).decimal(decimals: 2) }
        let others = prices.isEmpty ? nil : "\(prices.count) in storefronts"
        let shown = [base, others].compactMap { $0 }.joined(separator: ", ")
        return shown.isEmpty ? "no price" : shown
    }

    var words: String { "\(productId)  \(type)  \(standing)  \(shownPrice)" }
}
