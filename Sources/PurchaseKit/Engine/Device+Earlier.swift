// SPDX-License-Identifier: Apache-2.0

import Commerce
import StoreWire

/// Payments for what the customer has bought or asked for already, and that is not
/// complete: they charge nothing.
extension Device {
    /// What this device knows of the customer's incomplete purchase of a product.
    func earlier(_ product: ProductDescription, _ owner: Owner) -> EarlierPurchase? {
        let entries = (record?.entries ?? []).filter { entry in
            entry.owner == owner && entry.payment.productID == product.id
        }
        if product.isDeliveredOnce, entries.contains(where: { $0.state == .purchased }) {
            return .unfinished
        }
        let isWaiting = entries.contains { $0.state == .waiting }
        return isWaiting && product.subscriptionPeriod == nil ? .waiting : nil
    }

    /// Reports the transaction of an earlier payment, for which nothing was charged
    /// again. What the app has finished since is not delivered once more: it would
    /// count twice.
    func sellBefore(
        _ entry: QueueEntry, _ compact: String, _ response: PurchaseResponse
    ) async throws(DeviceFault) -> CarryStep {
        var transaction = try await verify(compact)
        transaction.sold.revision = response.revision
        transaction.sold.content = response.content
        let sold = transaction.sold
        guard let owner = entry.owner, transaction.productID == entry.payment.productID else {
            sayOnce("The store answered a payment with a transaction for something else.")
            throw .unknown(nil)
        }
        let sale = Sale(owner, sold.transactionID)
        if transaction.isDeliveredOnce, response.isFinished == true || finishedSales.contains(sale)
        {
            let sentence =
                "You had bought this already, and have received it. You are not charged again."
            await ports.sheet.notify(sentence)
            return fail(entry, PaymentFailure(.cancelled, sentence))
        }
        if entry.shown?.unitPrice != 0 {
            await ports.sheet.notify(EarlierPurchase.unfinished.sentence)
        }
        let first = record?.entries.first { Sale($0) == sale }
        let payment = first?.payment ?? transaction.payment
        try await withReceipt(of: owner) { (receipt, files, fits) throws(DeviceFault) in
            try self.change(
                .soldBefore(key: entry.key, payment, sold, receipt), with: files, onlyIf: fits)
        }
        return .done
    }
}

extension ProductDescription {
    /// Whether each purchase is delivered once, so that the next one is independent.
    var isDeliveredOnce: Bool {
        type == "Consumable" || type == "Non-Renewing Subscription"
    }
}
