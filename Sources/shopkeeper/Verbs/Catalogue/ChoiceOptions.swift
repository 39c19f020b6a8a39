// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Commerce
import Foundation
import Live
import PurchaseKit
import Shop
import StoreWire

/// Whose choice it is, and how long its outcome is awaited.
struct ChoiceOptions: ParsableArguments {
    @Option(name: .long, help: "The customer's sign-in name or number.")
    var customer = Realm.defaultCustomer
    @Option(name: .long, help: "How many seconds to wait for the app's decision, at most 3600.")
    var wait = 10
    @Option(name: .long, help: "The app's device folder; default: as the app's own default.")
    var deviceFolder: String?

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

    /// Starts the app if it has registered how, and nobody has taken the choice up after a
    /// second. The program gets its own arguments and nothing of an address.
    func started(
        _ chosen: PurchaseIntentRecord, _ door: DoorClient
    ) async throws -> PurchaseIntentRecord {
        let chosen = try await awaited(chosen, door, seconds: 1) {
            $0 != PurchaseIntentState.waiting.rawValue
        }
        guard chosen.state == PurchaseIntentState.waiting.rawValue,
            let launcher = AppLauncher.registered(in: try folder(of: chosen.bundleId))
        else { return chosen }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: launcher.arguments[0])
        process.arguments = Array(launcher.arguments.dropFirst())
        process.standardInput = FileHandle.nullDevice
        do { try process.run() } catch {
            throw Failure(
                .no, "appNotStarted", "\(launcher.arguments[0]) cannot be started: \(error).",
                field: "--device-folder", rule: "the program that the app has registered",
                remedy: "open the app by hand; the purchase waits for it")
        }
        return chosen
    }

    private func folder(of bundleID: String) throws -> URL {
        if let deviceFolder { return URL(fileURLWithPath: deviceFolder, isDirectory: true) }
        // The folder does not depend on the store.
        guard let anyStore = URL(string: DeviceConfiguration.defaultStoreURL) else {
            throw Failure(.bug, "folderUnknown", "The default store has no address.")
        }
        return DeviceConfiguration(storeURL: anyStore, bundleID: BundleID(bundleID)).folder
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
