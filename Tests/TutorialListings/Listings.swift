// SPDX-License-Identifier: Apache-2.0

// Purchase code in the manner of tutorials, written anew: it compiles unchanged with
// Apple's StoreKit, and here in the language mode of apps. Nothing calls it.

import Foundation
import StoreKit

enum ProductIdentifier: String, CaseIterable {
    case coins = "com.example.tutorial.coins"
    case premium = "com.example.tutorial.premium"
    case monthly = "com.example.tutorial.monthly"
}

enum StoreError: Error {
    case noProductsFound, noProductIDsFound, productRequestFailed
    case paymentWasCancelled
}

/// One object that does everything, with closures, as most tutorials begin.
class IAPManager: NSObject {
    static let shared = IAPManager()

    var products = [SKProduct]()
    private var productsHandler: ((Result<[SKProduct], Error>) -> Void)?
    private var purchaseHandler: ((Result<Bool, Error>) -> Void)?
    private var purchasing: [SKPaymentTransaction: Date] = [:]
    private var promoted: [SKPayment] = []
    private var totalRestored = 0

    func startObserving() { SKPaymentQueue.default().add(self) }
    func stopObserving() { SKPaymentQueue.default().remove(self) }
    func canMakePayments() -> Bool { SKPaymentQueue.canMakePayments() }

    func getProducts(_ handler: @escaping (Result<[SKProduct], Error>) -> Void) {
        productsHandler = handler
        let request = SKProductsRequest(
            productIdentifiers: Set(ProductIdentifier.allCases.map { $0.rawValue }))
        request.delegate = self
        request.start()
    }

    func buy(_ product: SKProduct, quantity: Int = 1, user: String?) {
        let payment = SKMutablePayment(product: product)
        payment.quantity = quantity
        payment.applicationUsername = user
        payment.simulatesAskToBuyInSandbox = false
        SKPaymentQueue.default().add(payment)
    }

    func subscribe(to product: SKProduct, with offer: SKProductDiscount, signature: String) {
        guard let identifier = offer.identifier else { return }
        let payment = SKMutablePayment(product: product)
        payment.paymentDiscount = SKPaymentDiscount(
            identifier: identifier, keyIdentifier: "KEY", nonce: UUID(), signature: signature,
            timestamp: NSNumber(value: Int(Date().timeIntervalSince1970 * 1000)))
        SKPaymentQueue.default().add(payment)
    }

    func restorePurchases() {
        totalRestored = 0
        SKPaymentQueue.default().restoreCompletedTransactions()
    }

    func buyPromoted() {
        for payment in promoted { SKPaymentQueue.default().add(payment) }
        promoted.removeAll()
    }

    func askForMore() {
        SKPaymentQueue.default().presentCodeRedemptionSheet()
        SKPaymentQueue.default().showPriceConsentIfNeeded()
        SKStoreReviewController.requestReview()
        SKProductStorePromotionController.default().update(storePromotionOrder: products) { error in
            if let error = error { print(error.localizedDescription) }
        }
        print(SKPaymentQueue.default().storefront?.countryCode ?? "no storefront")
    }

    func getPriceFormatted(for product: SKProduct) -> String? {
        let formatter = NumberFormatter()
        formatter.formatterBehavior = .behavior10_4
        formatter.numberStyle = .currency
        formatter.locale = product.priceLocale
        return formatter.string(from: product.price)
    }

    func describePeriod(of product: SKProduct) -> String {
        guard let period = product.subscriptionPeriod else { return "" }
        let unit: String
        switch period.unit {
        case .day: unit = "day"
        case .week: unit = "week"
        case .month: unit = "month"
        case .year: unit = "year"
        @unknown default: unit = "?"
        }
        let trial = product.introductoryPrice?.paymentMode == .freeTrial ? ", first one free" : ""
        return "\(period.numberOfUnits) \(unit)\(trial)"
    }

    func refreshReceipt() {
        let request = SKReceiptRefreshRequest(receiptProperties: nil)
        request.delegate = self
        request.start()
    }
}

extension IAPManager: SKProductsRequestDelegate {
    func productsRequest(_ request: SKProductsRequest, didReceive response: SKProductsResponse) {
        products = response.products.sorted { $0.price.doubleValue < $1.price.doubleValue }
        for identifier in response.invalidProductIdentifiers { print("invalid: \(identifier)") }
        DispatchQueue.main.async {
            self.productsHandler?(
                self.products.isEmpty
                    ? .failure(StoreError.noProductsFound) : .success(self.products))
        }
    }

    func requestDidFinish(_ request: SKRequest) {
        if request is SKReceiptRefreshRequest { print("The receipt is here.") }
    }

    func request(_ request: SKRequest, didFailWithError error: Error) {
        productsHandler?(.failure(StoreError.productRequestFailed))
    }
}

extension IAPManager: SKPaymentTransactionObserver {
    func paymentQueue(
        _ queue: SKPaymentQueue, updatedTransactions transactions: [SKPaymentTransaction]
    ) {
        transactions.forEach { transaction in
            switch transaction.transactionState {
            case .purchased:
                purchasing[transaction] = nil
                purchaseHandler?(.success(true))
                SKPaymentQueue.default().finishTransaction(transaction)
            case .restored:
                guard let identifier = transaction.original?.payment.productIdentifier else {
                    return
                }
                print("restored \(identifier)")
                totalRestored += 1
                SKPaymentQueue.default().finishTransaction(transaction)
            case .failed: fail(transaction)
            case .purchasing: purchasing[transaction] = Date()
            case .deferred: print("somebody else must agree")
            @unknown default: break
            }
        }
    }

    private func fail(_ transaction: SKPaymentTransaction) {
        if let error = transaction.error as? SKError {
            switch error.code {
            case .paymentCancelled: purchaseHandler?(.failure(StoreError.paymentWasCancelled))
            case .paymentNotAllowed, .paymentInvalid, .clientInvalid:
                purchaseHandler?(.failure(error))
            case .storeProductNotAvailable, .cloudServicePermissionDenied,
                .cloudServiceNetworkConnectionFailed, .cloudServiceRevoked:
                purchaseHandler?(.failure(error))
            case .unknown: fallthrough
            default: purchaseHandler?(.failure(error))
            }
        } else if let error = transaction.error as NSError?, error.code == 5002 {
            print(error.domain)
        }
        SKPaymentQueue.default().finishTransaction(transaction)
    }

    func paymentQueue(
        _ queue: SKPaymentQueue, removedTransactions transactions: [SKPaymentTransaction]
    ) {
        for transaction in transactions { purchasing.removeValue(forKey: transaction) }
    }

    func paymentQueueRestoreCompletedTransactionsFinished(_ queue: SKPaymentQueue) {
        print(totalRestored == 0 ? "nothing to restore" : "restored")
    }

    func paymentQueue(
        _ queue: SKPaymentQueue, restoreCompletedTransactionsFailedWithError error: Error
    ) {
        if (error as? SKError)?.code != .paymentCancelled { print(error.localizedDescription) }
    }

    func paymentQueue(
        _ queue: SKPaymentQueue, shouldAddStorePayment payment: SKPayment, for product: SKProduct
    ) -> Bool {
        promoted.append(payment)
        return false
    }

    func paymentQueue(_ queue: SKPaymentQueue, updatedDownloads downloads: [SKDownload]) {
        for download in downloads {
            switch download.state {
            case .waiting: queue.start([download])
            case .active: print(download.progress, download.timeRemaining)
            case .finished: print(download.contentURL?.path ?? "")
            case .failed, .cancelled, .paused: print(download.error?.localizedDescription ?? "")
            @unknown default: break
            }
        }
    }

    func paymentQueueDidChangeStorefront(_ queue: SKPaymentQueue) {
        getProducts { _ in }
    }

    func paymentQueue(
        _ queue: SKPaymentQueue,
        didRevokeEntitlementsForProductIdentifiers productIdentifiers: [String]
    ) {
        for identifier in productIdentifiers {
            UserDefaults.standard.removeObject(forKey: identifier)
        }
    }
}

extension IAPManager: SKPaymentQueueDelegate {
    func paymentQueue(
        _ paymentQueue: SKPaymentQueue, shouldContinue transaction: SKPaymentTransaction,
        in newStorefront: SKStorefront
    ) -> Bool { newStorefront.countryCode != "" }

    func paymentQueueShouldShowPriceConsent(_ paymentQueue: SKPaymentQueue) -> Bool { false }
}

extension SKProduct {
    /// Some tutorials put the price into an extension.
    var localizedPrice: String {
        let formatter = NumberFormatter()
        formatter.locale = priceLocale
        formatter.numberStyle = .currency
        return formatter.string(from: price) ?? ""
    }
}

/// A validation at a server, which `import StoreKit` makes possible without another
/// import.
func validate(_ receipt: Data, at url: URL, _ done: @escaping (Bool) -> Void) {
    var request = URLRequest(url: url)
    request.httpMethod = "POST"
    request.httpBody = try? JSONSerialization.data(
        withJSONObject: ["receipt-data": receipt.base64EncodedString()])
    URLSession.shared.dataTask(with: request) { data, _, _ in
        let answer = data.flatMap { try? JSONSerialization.jsonObject(with: $0) } as? [String: Any]
        done(answer?["status"] as? Int == 0)
    }.resume()
}
