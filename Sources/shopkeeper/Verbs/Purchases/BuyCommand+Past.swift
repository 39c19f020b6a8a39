// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import Live
import StoreWire

/// Purchases that a sandbox's customer made in the past.
extension BuyCommand {
    func buy(at text: String, _ found: RunningStore) async throws {
        guard !asksToBuy else {
            throw Failure(
                .usage, "optionsExclusive", "Nothing waits in the past.", field: "--asks-to-buy",
                rule: "--at buys at once", remedy: "leave out one of them")
        }
        var door = found.controlDoor
        door.timeoutMilliseconds = ClockOptions.jumpMilliseconds
        let customer = customer ?? Live.environment["SHOPKEEPER_CUSTOMER"]
        let app = BuyingDevice.bundleID(found)
        let clock = try await door.get(
            customer.map(ClockOptions.path) ?? "/clock", as: ClockDescription.self)
        var request = PastPurchaseRequest(
            bundleId: app, productId: product,
            date: try ClockOptions.instant(text, "--at", now: clock.now))
        request.customer = customer
        request.quantity = quantity
        request.applicationUsername = username
        request.offer = try offer(app)
        request.billingPlan = monthly ? BillingPlan.Kind.monthly.rawValue : nil
        request.isUnfinished = unfinished ? true : nil
        request.notifications = jump.notifications?.rawValue
        let late = Task {
            while (try? await Live.sleep(.seconds(1))) != nil {
                Output.complain("what has happened since then is still being done")
            }
        }
        defer { late.cancel() }
        let answer = try await door.post("/purchases", request, as: PastPurchaseAnswer.self)
        try printing.show(answer, lines: answer.words(product, at: request.date))
    }
}

extension PastPurchaseAnswer {
    /// The purchase, and an event a line.
    fileprivate func words(_ product: String, at date: Timestamp) -> [String] {
        let isSoldLater = events.first?.kind == "choseProduct"
        let bought =
            transactionId.map {
                isSoldLater
                    ? "\(product) was chosen at \(date) for the next period. Transaction \($0) runs."
                    : "Bought \(product) at \(date), transaction \($0)."
            }
            ?? "The purchase of \(product) at \(date) waits for approval."
        let told = events.map { "\($0.date)  \($0.message)" }
        return [bought] + told
    }
}
