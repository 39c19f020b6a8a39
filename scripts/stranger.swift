// An app as somebody else would write it: Apple's names only.
import Bystander
import StoreKit

final class Buyer: NSObject, SKProductsRequestDelegate, SKPaymentTransactionObserver {
    func productsRequest(_ request: SKProductsRequest, didReceive response: SKProductsResponse) {
        for product in response.products where SKPaymentQueue.canMakePayments() {
            SKPaymentQueue.default().add(SKPayment(product: product))
        }
    }

    func paymentQueue(
        _ queue: SKPaymentQueue, updatedTransactions transactions: [SKPaymentTransaction]
    ) {
        for transaction in transactions {
            switch transaction.transactionState {
            case .purchased, .restored: queue.finishTransaction(transaction)
            case .failed:
                if (transaction.error as? SKError)?.code != .paymentCancelled { print("failed") }
                queue.finishTransaction(transaction)
            case .purchasing, .deferred: break
            @unknown default: break
            }
        }
    }
}

let buyer = Buyer()
if let url = Bundle.main.appStoreReceiptURL, let receipt = try? Data(contentsOf: url) {
    print("The receipt has \(receipt.count) bytes.")
}
print("The app's own appStoreReceiptURL was asked: \(receiptQuestions == 1)")
let session: URLSession? = nil
print("URLSession can be named: \(session == nil)")
let payment = SKMutablePayment()
payment.productIdentifier = "com.example.coins"
payment.quantity = 2
print("A payment of \(payment.quantity) × \(payment.productIdentifier) can be written here.")
print("A bystander that sees StoreKit: \(seesStoreKit)")
