// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreKit

/// An app only for the proof, with the real PurchaseKit. Its standard input
/// contains what to buy, one JSON object a line. Its standard output contains
/// what its observer receives. It may be killed at any moment.
struct Order: Decodable {
    let product: String
    let quantity: Int
    /// Returned with the payment, as its `applicationUsername`.
    let tag: String
}

struct Word: Encodable {
    var word: String
    var tag: String?
    var transaction: String?
    var product: String?
    var quantity: Int?
    var text: String?

    func say() {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        guard let line = try? encoder.encode(self) else { return }
        FileHandle.standardOutput.write(line + Data("\n".utf8))
    }
}

/// Prints what happens to each payment, and finishes what has ended.
final class Teller: NSObject, SKPaymentTransactionObserver {
    /// The tags under which payments were added. One that is answered with an earlier
    /// payment's transaction has that one's contents afterwards.
    private var tags: [ObjectIdentifier: String] = [:]

    func paymentQueue(
        _ queue: SKPaymentQueue, updatedTransactions transactions: [SKPaymentTransaction]
    ) {
        for transaction in transactions {
            switch transaction.transactionState {
            case .purchased, .restored:
                say("purchased", transaction)
                queue.finishTransaction(transaction)
            case .failed:
                say("failed", transaction)
                queue.finishTransaction(transaction)
            case .purchasing: say("purchasing", transaction)
            case .deferred: say("deferred", transaction)
            @unknown default: say("unknown", transaction)
            }
        }
    }

    private func say(_ word: String, _ transaction: SKPaymentTransaction) {
        let payment = transaction.payment
        let own = ObjectIdentifier(transaction)
        if word == "purchasing" { tags[own] = payment.applicationUsername }
        Word(
            word: word, tag: tags[own] ?? payment.applicationUsername,
            transaction: transaction.transactionIdentifier, product: payment.productIdentifier,
            quantity: payment.quantity, text: transaction.error.map { "\($0)" }
        ).say()
    }
}

/// Requests the products until they have arrived. Then buys as ordered.
final class Shopper: NSObject, SKProductsRequestDelegate {
    private static let products: Set<String> = ["coins.100", "coins.500"]
    private var products: [String: SKProduct] = [:]
    private var request: SKProductsRequest?

    func begin() {
        let request = SKProductsRequest(productIdentifiers: Self.products)
        request.delegate = self
        self.request = request
        request.start()
    }

    func productsRequest(_ request: SKProductsRequest, didReceive response: SKProductsResponse) {
        for product in response.products { products[product.productIdentifier] = product }
        Word(word: "ready").say()
    }

    func request(_ request: SKRequest, didFailWithError error: any Error) {
        DispatchQueue.main.asyncAfter(deadline: .now() + 0.1) { self.begin() }
    }

    func obey(_ line: String) {
        guard let order = try? JSONDecoder().decode(Order.self, from: Data(line.utf8)),
            let product = products[order.product]
        else {
            Word(word: "misunderstood", text: line).say()
            return
        }
        let payment = SKMutablePayment(product: product)
        payment.quantity = order.quantity
        payment.applicationUsername = order.tag
        SKPaymentQueue.default().add(payment)
    }
}

let teller = Teller()
SKPaymentQueue.default().add(teller)
let shopper = Shopper()
shopper.begin()
DispatchQueue.global().async {
    while let line = readLine() {
        DispatchQueue.main.async { shopper.obey(line) }
    }
    exit(0)
}
RunLoop.main.run()
