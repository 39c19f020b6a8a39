// SPDX-License-Identifier: Apache-2.0

import StoreKit

/// Sells years of comments, and lets the server use them. The server knows what is
/// paid and what is used. A transaction is finished only after the server's
/// success, so a purchase whose call was lost is used at the next launch.
final class CommentStore: NSObject, SKProductsRequestDelegate, SKPaymentTransactionObserver {
    typealias Done = (Result<Journal, any Error>) -> Void

    static let productIdentifier = "com.example.journal.comments12"

    /// What is paid and not used, as the server reported it last.
    private(set) var unused: [UnusedPurchase] = []
    private(set) var product: SKProduct?

    private let server: JournalServer
    /// Requests under way, with what follows them.
    private var requests: [SKRequest: ((any Error)?) -> Void] = [:]
    /// Transactions that are paid and not finished.
    private var unfinished: [String: SKPaymentTransaction] = [:]
    /// The journal for which a payment has begun.
    private var pending: (journal: String, done: Done)?

    init(server: JournalServer) {
        self.server = server
    }

    /// `Use a paid year`, or `Buy a year for $9.99`.
    var button: String {
        if !unused.isEmpty { return "Use a paid year" }
        guard let product else { return "…" }
        let formatter = NumberFormatter()
        formatter.numberStyle = .currency
        formatter.locale = product.priceLocale
        return "Buy a year for \(formatter.string(from: product.price) ?? "\(product.price)")"
    }

    /// Loads the product, and sends the receipt to the server. A device without a
    /// receipt fetches one first.
    func launch(_ done: @escaping ((any Error)?) -> Void) {
        send(SKProductsRequest(productIdentifiers: [Self.productIdentifier])) { error in
            if let error { return done(error) }
            if self.receipt != nil { return self.verify(done) }
            self.send(SKReceiptRefreshRequest()) { error in
                if let error { done(error) } else { self.verify(done) }
            }
        }
    }

    private func send(_ request: SKRequest, _ done: @escaping ((any Error)?) -> Void) {
        requests[request] = done
        request.delegate = self
        request.start()
    }

    private var receipt: Data? {
        Bundle.main.appStoreReceiptURL.flatMap { try? Data(contentsOf: $0) }
    }

    /// What the button does: uses a paid year, or buys one and uses it.
    func enableComments(on journal: String, _ done: @escaping Done) {
        if let purchase = unused.first { return use(purchase, on: journal, done) }
        guard let product, pending == nil else { return done(.failure(SKError(.unknown))) }
        pending = (journal, done)
        SKPaymentQueue.default().add(SKPayment(product: product))
    }

    private func use(_ purchase: UnusedPurchase, on journal: String, _ done: @escaping Done) {
        server.enableComments(on: journal, with: purchase) { result in
            guard case .success = result else { return done(result) }
            // Also finishes the transaction, unless another of its years is left.
            self.verify { _ in done(result) }
        }
    }

    /// Asks the server what is unused, and finishes what it has booked and used.
    private func verify(_ done: @escaping ((any Error)?) -> Void) {
        guard let receipt else { return done(nil) }
        server.verify(receipt) { result in
            switch result {
            case .failure(let error): done(error)
            case .success(let answer):
                self.unused = answer.unusedPurchase
                let open = Set(answer.unusedPurchase.map(\.transactionId))
                for id in answer.booked where !open.contains(id) { self.finish(id) }
                done(nil)
            }
        }
    }

    private func finish(_ id: String) {
        guard let transaction = unfinished.removeValue(forKey: id) else { return }
        SKPaymentQueue.default().finishTransaction(transaction)
    }

    func paymentQueue(
        _ queue: SKPaymentQueue, updatedTransactions transactions: [SKPaymentTransaction]
    ) {
        for transaction in transactions {
            switch transaction.transactionState {
            case .purchased: paid(transaction)
            case .failed:
                queue.finishTransaction(transaction)
                let ended = pending
                pending = nil
                ended?.done(.failure(transaction.error ?? SKError(.unknown)))
            case .restored: queue.finishTransaction(transaction)
            case .purchasing, .deferred: break
            @unknown default: break
            }
        }
    }

    /// The receipt contains the purchase before its transaction is reported.
    private func paid(_ transaction: SKPaymentTransaction) {
        unfinished[transaction.transactionIdentifier ?? ""] = transaction
        guard let (journal, done) = pending else { return verify { _ in } }
        pending = nil
        verify { error in
            if let error { return done(.failure(error)) }
            guard let purchase = self.unused.first else {
                return done(.failure(SKError(.unknown)))
            }
            self.use(purchase, on: journal, done)
        }
    }

    func productsRequest(_ request: SKProductsRequest, didReceive response: SKProductsResponse) {
        product = response.products.first
    }

    func requestDidFinish(_ request: SKRequest) { end(request, nil) }

    func request(_ request: SKRequest, didFailWithError error: any Error) { end(request, error) }

    private func end(_ request: SKRequest, _ error: (any Error)?) {
        requests.removeValue(forKey: request)?(error)
    }
}

enum Sentences {
    /// Returns the text for an error. Nil for what the customer has cancelled.
    static func failure(_ error: any Error) -> String? {
        if (error as? SKError)?.code == .paymentCancelled { return nil }
        let underlying = (error as? SKError)?.userInfo[NSUnderlyingErrorKey]
        if error is URLError || underlying is URLError { return "Network down?" }
        return "It failed: \(error.localizedDescription)"
    }
}
