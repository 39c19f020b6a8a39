// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Commerce
import Foundation
import Pictures
import StoreWire

struct PromotionCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "promotion", abstract: "Products that the app's page promotes.",
        discussion: """
            At most 20 products of an app, each with a picture: a PNG or JPEG of 1024 × 1024 \
            pixels. An app may change order and visibility on its own device.
            """,
        subcommands: [List.self, Set.self, Order.self, Remove.self, Choose.self, Open.self])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List the promoted products in their order.")

        @OptionGroup var app: AppOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let (store, bundleID) = try app.found()
            let records = try await store.operatorDoor.get(
                "/apps/\(bundleID)/promotions", as: PromotionRecords.self
            ).promotions
            try printing.show(records, lines: Output.table(records.map(\.cells)))
        }
    }

    struct Set: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "set", abstract: "Promote a product, or change its picture or visibility.",
            discussion: "A new one is shown, and comes last.")

        @Argument(help: "The product's id, from `product list`.") var product: String
        @Option(name: .long, help: "A PNG or JPEG of 1024 × 1024 pixels; a new one needs it.")
        var image: String?
        @Option(name: .long, help: "show, or hide: only on devices whose app shows it.")
        var visibility: String?
        @OptionGroup var app: AppOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let picture = try image.map(Self.picture) ?? Data()
            let (store, bundleID) = try app.found()
            let query = visibility.map { "?visibility=" + DoorClient.part($0) } ?? ""
            let record = try await store.operatorDoor.put(
                PromotionRecord.path(product, of: bundleID) + query, bytes: picture,
                as: PromotionRecord.self)
            try printing.show(record, record.words)
        }

        /// Judged here too, so that a wrong file is not sent.
        private static func picture(_ file: String) throws -> Data {
            guard let bytes = FileManager.default.contents(atPath: file) else {
                throw Failure(
                    .input, "fileUnreadable", "\(file) cannot be read.", field: "image",
                    rule: PromotionImage.rule,
                    remedy: "name a file that is there and that you may read")
            }
            do throws(PromotionImage.Fault) {
                _ = try PromotionImage([UInt8](bytes))
            } catch {
                throw Failure(
                    .input, "promotionImageInvalid", "\(file) is no such picture: \(error).",
                    field: "image", rule: PromotionImage.rule,
                    remedy: "save the picture again in this form")
            }
            return bytes
        }
    }

    struct Order: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "order", abstract: "Move promoted products to the front, in this order.")

        @Argument(help: "Their ids; the rest follow in their present order.")
        var products: [String]
        @OptionGroup var app: AppOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let (store, bundleID) = try app.found()
            let records = try await store.operatorDoor.put(
                "/apps/\(bundleID)/promotion-order", OrderPromotionsRequest(products: products),
                as: PromotionRecords.self
            ).promotions
            try printing.show(records, lines: Output.table(records.map(\.cells)))
        }
    }

    struct Remove: AsyncParsableCommand {
        private struct Answer: Encodable {
            let product: String
        }

        static let configuration = CommandConfiguration(
            commandName: "remove", abstract: "End the promotion of a product; the product stays.")

        @Argument(help: "The product's id, from `promotion list`.") var product: String
        @OptionGroup var app: AppOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let (store, bundleID) = try app.found()
            try await store.operatorDoor.delete(PromotionRecord.path(product, of: bundleID))
            try printing.show(
                Answer(product: product), "\(product) is not promoted any more.")
        }
    }
}

extension PromotionRecord {
    static func path(_ product: String, of bundleID: String) -> String {
        "/apps/\(DoorClient.part(bundleID))/promotions/" + ProductRecord.escaped(product)
    }

    fileprivate var cells: [String] {
        [
            "\(position)", productId, visibility, imageType, "\(imageLength) bytes",
            String(imageSha256.prefix(16)),
        ]
    }

    fileprivate var words: String { cells.joined(separator: "  ") }
}
