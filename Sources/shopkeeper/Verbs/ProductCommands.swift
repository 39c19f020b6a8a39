// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Commerce
import Foundation
import StoreWire

struct ProductCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "product", abstract: "What an app sells, changed while the store runs.",
        subcommands: [
            Create.self, Set.self, Approve.self, List.self, Show.self, Remove.self,
        ])

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make a product: a draft, unless --state says otherwise.",
            discussion: "Its offers are added with `offer add`.")

        @Argument(help: "1 to 100 letters, digits, `-`, `.`, `_`; never given again.")
        var product: String
        @Option(name: .long, help: "consumable, non-consumable, auto-renewable, non-renewing.")
        var type = "consumable"
        @Option(name: .long, help: "The group's id, of an auto-renewable.") var group: String?
        @Option(name: .long, help: "ISO 8601, of an auto-renewable.") var period: String?
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
            abstract: "Change what is said of a product; the rest stays.")

        @Argument(help: "The product's id, as `product list` tells it.") var product: String
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
            abstract: "Approve a product: production sells it from now on.")

        @Argument(help: "The product's id, as `product list` tells it.") var product: String
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
            abstract: "List an app's products, drafts and withdrawn ones too.")

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
        static let configuration = CommandConfiguration(abstract: "Tell all about a product.")

        @Argument(help: "The product's id, as `product list` tells it.") var product: String
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
            abstract: "Remove a product for good: its id is never given again.")

        @Argument(help: "The product's id, as `product list` tells it.") var product: String
        @OptionGroup var app: AppOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let (store, bundleID) = try app.found()
            try await store.operatorDoor.delete(ProductRecord.path(product, of: bundleID))
            try printing.show(Removed(removed: product), "Removed \(product).")
        }
    }
}

struct WhyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "why", abstract: "Tell why a device gets a product, or does not.",
        discussion: "Exit code 0 where it is sold, 1 where not.")

    @Argument(help: "The product's id.") var product: String
    @Option(name: .long, help: "Alpha-3 country code; else the app's.") var storefront: String?
    @OptionGroup var app: AppOptions
    @OptionGroup var printing: PrintOptions

    func run() async throws {
        let (store, bundleID) = try app.found()
        let query = storefront.map { "?storefront=" + ProductRecord.escaped($0) } ?? ""
        let answer = try await store.operatorDoor.get(
            ProductRecord.path(product, of: bundleID) + "/why" + query, as: ProductAnswer.self)
        let price = answer.price.flatMap { price in
            answer.currency.flatMap(Currency.init(code:)).map {
                " for \(Money(Amount(milliunits: price), $0))"
            }
        }
        try printing.show(
            answer, "\(answer.answer)\(price ?? "") in \(answer.storefront): \(answer.message)")
        if answer.answer != "sold" { throw ExitCode(ExitStatus.no.rawValue) }
    }
}

extension ProductRecord {
    static func path(_ product: String, of bundleID: String) -> String {
        "/apps/\(bundleID)/products/" + escaped(product)
    }

    /// As an address may hold it.
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
