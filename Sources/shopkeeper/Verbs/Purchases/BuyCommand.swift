// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Commerce
import Foundation
import Live
import PurchaseKit
import StoreWire

/// Buys as a device named `shopkeeper`, like an app.
struct BuyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "buy", abstract: "Buy a product and finish its transaction.",
        discussion: """
            With --at the purchase was made in the customer's past: `--at now-13mo` makes a \
            customer who has subscribed for 13 months. No device buys then; the sandbox writes \
            the purchase, and every renewal since then, before the command returns.
            """)

    @Argument(help: "The product's id.") var product: String
    @Option(name: .long, help: "The quantity, 1 to 10.") var quantity = 1
    @Option(name: .long, help: "The customer who buys; default: the sandbox's own.")
    var customer: String?
    @Option(name: .long, help: "The app's own name for its user.") var username: String?
    @Flag(name: .long, help: "Do not finish: the app receives the transaction.")
    var unfinished = false
    @Flag(name: .long, help: "Ask for approval first (Ask to Buy): see `approve`.")
    var asksToBuy = false
    @Flag(name: .long, help: "Pay for a year in monthly parts.") var monthly = false
    @Option(name: .long, help: "Redeem this offer code.") var code: String?
    @Option(name: .long, help: "Take this win-back offer, by its id.") var winBack: String?
    @Option(
        name: .long,
        help: "Take this promotional offer, by its id: signed with --key-id and --private-key.")
    var promotional: String?
    @OptionGroup var signing: SigningOptions
    @Option(
        name: .long,
        help: """
            When it was bought, in a sandbox: 2026-01-31T12:00:00Z, milliseconds since 1970, or a \
            step from the customer's time: now-13mo.
            """)
    var at: String?
    @OptionGroup var jump: JumpOptions
    @Option(name: .long, help: "The most seconds to wait for an answer.")
    var timeout = TimeLimit(60.0)
    @OptionGroup var store: StoreOptions
    @OptionGroup var printing: PrintOptions

    func run() async throws {
        guard quantity > 0, !product.isEmpty else {
            throw Failure(
                .usage, "quantityOutOfRange", "The quantity is out of range.",
                field: "--quantity", rule: "1 to 10")
        }
        let found = try store.store()
        if let at {
            try await buy(at: at, found)
            return
        }
        let payment = payment
        payment.billingPlan = monthly ? BillingPlan.Kind.monthly.rawValue : nil
        let app = BuyingDevice.bundleID(found)
        payment.requestedOffer = try offer(app)
        let sheet = ConfirmingSheet()
        let (device, files) = try BuyingDevice.make(
            found, bundleID: app, customer: customer ?? Live.environment["SHOPKEEPER_CUSTOMER"],
            folder: Self.folder(of: app, found), sheet: sheet)
        let buyer = Buyer(device: device, files: files, finishes: !unfinished)
        let sold: String
        do {
            sold = try await buyer.buy(payment, timeout: timeout)
        } catch {
            await BuyingDevice.close(device)
            throw error
        }
        let record = try await record(of: sold, found)
        await BuyingDevice.close(device)
        try printing.show(
            record, Self.words(record, product, quantity, isCharged: sheet.showedCharge))
    }

    /// A device's queue belongs to one app.
    private static func folder(of app: String, _ found: RunningStore) -> String {
        let folder = found.run.data + "/devices/shopkeeper"
        return app == found.run.bundleId ? folder : folder + "-" + DoorClient.part(app)
    }

    /// A change to a lower service sells nothing now: the store answers with the
    /// transaction that runs.
    ///
    /// - Parameter isCharged: False if the payment sheet said that the payment
    ///   charges nothing, because of an earlier purchase.
    static func words(
        _ record: TransactionRecord, _ product: String, _ quantity: Int, isCharged: Bool = true
    ) -> String {
        let id = record.payload.transactionId ?? ""
        guard let running = record.payload.productId, running != product else {
            guard isCharged, record.payload.quantity ?? quantity == quantity else {
                return "Bought before: \(record.payload.quantity ?? 1) × \(product), transaction "
                    + "\(id). Nothing was charged again."
            }
            return "Bought \(quantity) × \(product), transaction \(id)."
        }
        return "\(product) follows \(running) at the end of its period. Transaction \(id) runs."
    }

    /// Returns the store's record of the transaction, once the store has also
    /// recorded the finish.
    private func record(of sold: String, _ found: RunningStore) async throws -> TransactionRecord {
        let end = Live.monotonic() + timeout.duration
        while true {
            let record = try await found.operatorDoor.get(
                "/transactions/\(sold)", as: TransactionRecord.self)
            if record.isFinished || unfinished || Live.monotonic() > end { return record }
            try await Live.sleep(.milliseconds(5))
        }
    }

    func offer(_ bundleID: String) throws -> OfferRequest? {
        guard [code, winBack, promotional].compactMap(\.self).count <= 1 else {
            throw Failure(
                .usage, "offersExclusive", "A payment has one offer.", field: "--code",
                rule: "one of --code, --win-back and --promotional", remedy: "leave out the others")
        }
        if let code { return OfferRequest(kind: OfferKind.code.rawValue, code: code) }
        if let winBack {
            return OfferRequest(kind: OfferKind.winBack.rawValue, offerId: winBack)
        }
        return try promotional.map {
            try signing.sign($0, product: product, of: bundleID, username: username)
        }
    }

    private var payment: SKMutablePayment {
        let payment = SKMutablePayment()
        payment.productIdentifier = product
        payment.quantity = quantity
        payment.applicationUsername = username
        payment.simulatesAskToBuyInSandbox = asksToBuy
        return payment
    }
}
