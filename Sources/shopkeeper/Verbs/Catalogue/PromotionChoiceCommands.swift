// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Commerce
import Foundation
import Live
import PurchaseKit
import Shop
import StoreWire

extension PromotionCommand {
    struct Choose: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Choose a product for a customer, as on the app's page.",
            discussion: """
                The app decides whether a payment follows. Exits with 1 if it will not. An app \
                that is not there has 24 hours.
                """)

        @Argument(help: "The product's id, from `product list`.") var product: String
        @OptionGroup var choice: ChoiceOptions
        @OptionGroup var app: AppOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let (store, bundleID) = try app.found()
            let chosen = try await choice.choose(product, bundleID, store.operatorDoor)
            try await choice.report(chosen, store.operatorDoor, printing)
        }
    }

    struct Open: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Open a purchase-intent address, and start the app if it does not run.",
            discussion: """
                itms-services://?action=purchaseIntent&bundleId=APP&productIdentifier=PRODUCT. \
                The app is started as it has registered in its device folder \
                (DeviceConfiguration.launcher).
                """)

        @Argument(help: "The address.") var url: String
        @Option(name: .long, help: "The app's device folder; default: as the app's own default.")
        var deviceFolder: String?
        @OptionGroup var choice: ChoiceOptions
        @OptionGroup var store: StoreOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let intent = try PurchaseIntentAddress(url)
            let door = try store.store().operatorDoor
            var chosen = try await choice.choose(intent.product, intent.bundleID.value, door)
            chosen = try await choice.awaited(chosen, door, seconds: 1) { $0 != "waiting" }
            if chosen.state == PurchaseIntentState.waiting.rawValue { try start(intent) }
            try await choice.report(chosen, door, printing)
        }

        /// The program gets its own arguments and nothing of the address.
        private func start(_ intent: PurchaseIntentAddress) throws {
            let folder =
                deviceFolder.map { URL(fileURLWithPath: $0, isDirectory: true) }
                ?? DeviceConfiguration(
                    storeURL: intent.anyStore, bundleID: intent.bundleID
                ).folder
            guard let launcher = AppLauncher.registered(in: folder) else { return }
            let process = Process()
            process.executableURL = URL(fileURLWithPath: launcher.arguments[0])
            process.arguments = Array(launcher.arguments.dropFirst())
            process.standardInput = FileHandle.nullDevice
            do { try process.run() } catch {
                throw Failure(
                    .no, "appNotStarted", "\(launcher.arguments[0]) cannot be started: \(error).",
                    field: "url", rule: "the program that the app has registered",
                    remedy: "open the app by hand; the purchase waits for it")
            }
        }
    }
}

/// Whose choice it is, and how long its outcome is awaited.
struct ChoiceOptions: ParsableArguments {
    @Option(name: .long, help: "The customer's sign-in name or number.")
    var customer = Realm.defaultCustomer
    @Option(name: .long, help: "How many seconds to wait for the app's decision, at most 3600.")
    var wait = 10

    func validate() throws {
        guard (0...3600).contains(wait) else {
            throw ValidationError("--wait is 0 to 3600 seconds.")
        }
    }

    func choose(
        _ product: String, _ bundleID: String, _ door: DoorClient
    ) async throws -> PurchaseIntentRecord {
        let customer = try await CustomerCommand.find(customer, door)
        return try await door.post(
            "/customers/\(customer.customerId)/purchase-intents",
            ChoosePromotionRequest(bundleId: bundleID, productId: product),
            as: PurchaseIntentRecord.self)
    }

    /// Asks again once a second.
    func awaited(
        _ chosen: PurchaseIntentRecord, _ door: DoorClient, seconds: Int,
        until isThere: (String) -> Bool
    ) async throws -> PurchaseIntentRecord {
        var record = chosen
        for _ in 0..<seconds where !isThere(record.state) {
            try await Live.sleep(.seconds(1))
            record = try await door.get(
                "/customers/\(record.customerId)/purchase-intents/\(record.intentId)",
                as: PurchaseIntentRecord.self)
        }
        return record
    }

    func report(
        _ chosen: PurchaseIntentRecord, _ door: DoorClient, _ printing: PrintOptions
    ) async throws {
        let record = try await awaited(chosen, door, seconds: wait) { word in
            PurchaseIntentState(rawValue: word)?.isOpen != true
        }
        try printing.show(record, "\(record.productId): \(record.message)")
        let state = PurchaseIntentState(rawValue: record.state)
        if state?.isOpen != true, state != .continued, state != .deferred {
            throw ExitCode(ExitStatus.no.rawValue)
        }
    }
}

/// The parts of a purchase-intent address.
struct PurchaseIntentAddress: Hashable {
    let bundleID: BundleID
    let product: String
    /// An address of no store, for configurations that ask none.
    let anyStore: URL

    init(_ text: String) throws {
        let parts = text.utf8.count <= 2048 ? URLComponents(string: text) : nil
        func value(_ name: String) -> String? {
            let values = (parts?.queryItems ?? []).filter { $0.name == name }
            return values.count == 1 ? values[0].value : nil
        }
        guard let parts, parts.scheme == "itms-services", (parts.host ?? "").isEmpty,
            value("action") == "purchaseIntent",
            let app = value("bundleId"), Self.isBundleID(app),
            let product = value("productIdentifier"), IDText.isID(product),
            let anyStore = URL(string: DeviceConfiguration.defaultStoreURL)
        else {
            throw Failure(
                .usage, "addressInvalid", "This is not a purchase-intent address.", field: "url",
                rule:
                    "itms-services://?action=purchaseIntent&bundleId=APP&productIdentifier=PRODUCT",
                remedy: "name the app's bundle id and one of its products")
        }
        (bundleID, self.product, self.anyStore) = (BundleID(app), product, anyStore)
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
