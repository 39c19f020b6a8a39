// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Commerce
import Foundation
import StoreWire

extension PromotionCommand {
    struct Choose: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "choose",
            abstract: "Choose a product for a customer, as on the app's page.",
            discussion: """
                The app decides whether a payment follows. Exits with 1 if it will not. An app \
                that does not run is started as it has registered in its device folder \
                (DeviceConfiguration.launcher). Without that it has 24 hours.
                """)

        @Argument(help: "The product's id, from `product list`.") var product: String
        @OptionGroup var choice: ChoiceOptions
        @OptionGroup var app: AppOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let (store, bundleID) = try app.found()
            let door = store.operatorDoor
            let chosen = try await choice.choose(product, bundleID, door)
            try await choice.report(try await choice.started(chosen, door), door, printing)
        }
    }

    struct Open: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "open",
            abstract: "Open a purchase-intent address: choose its product for a customer.",
            discussion: """
                itms-services://?action=purchaseIntent&bundleId=APP&productIdentifier=PRODUCT. \
                The rest is as with `promotion choose`.
                """)

        @Argument(help: "The address.") var url: String
        @OptionGroup var choice: ChoiceOptions
        @OptionGroup var store: StoreOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let intent = try PurchaseIntentAddress(url)
            let door = try store.store().operatorDoor
            let chosen = try await choice.choose(intent.product, intent.bundleID, door)
            try await choice.report(try await choice.started(chosen, door), door, printing)
        }
    }
}

/// The parts of a purchase-intent address.
struct PurchaseIntentAddress: Hashable {
    let bundleID: String
    let product: String

    init(_ text: String) throws {
        let parts = text.utf8.count <= 2048 ? URLComponents(string: text) : nil
        func value(_ name: String) -> String? {
            let values = (parts?.queryItems ?? []).filter { $0.name == name }
            return values.count == 1 ? values[0].value : nil
        }
        guard let parts, parts.scheme?.lowercased() == "itms-services", (parts.host ?? "").isEmpty,
            value("action") == "purchaseIntent",
            let app = value("bundleId"), Self.isBundleID(app),
            let product = value("productIdentifier"), IDText.isID(product)
        else {
            throw Failure(
                .usage, "addressInvalid", "This is not a purchase-intent address.", field: "url",
                rule:
                    "itms-services://?action=purchaseIntent&bundleId=APP&productIdentifier=PRODUCT",
                remedy: "name the app's bundle id and one of its products")
        }
        (bundleID, self.product) = (app, product)
    }

    /// 1 to 155 letters, digits, `-` and `.`, without names of folders. The store judges it
    /// again.
    private static func isBundleID(_ text: String) -> Bool {
        let marks = "-.".utf8
        return (1...155).contains(text.utf8.count) && text != "." && text != ".."
            && text.utf8.allSatisfy { byte in
                marks.contains(byte) || (48...57).contains(byte)
                    || (65...90).contains(byte) || (97...122).contains(byte)
            }
    }
}
