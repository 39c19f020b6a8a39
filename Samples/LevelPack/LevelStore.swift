// SPDX-License-Identifier: Apache-2.0

import StoreKit

/// Sells the level, downloads its files, and installs them before it finishes the
/// transaction.
final class LevelStore: NSObject, SKProductsRequestDelegate, SKPaymentTransactionObserver {
    static let productIdentifier = "com.example.levelpack.caves"

    private var request: SKProductsRequest?
    private var onProduct: ((SKProduct?, (any Error)?) -> Void)?
    /// The download goes on.
    var onProgress: ((SKDownload) -> Void)?
    /// The level is installed: nil, or the error.
    var onEnd: (((any Error)?) -> Void)?

    func loadProduct(_ done: @escaping (SKProduct?, (any Error)?) -> Void) {
        onProduct = done
        let request = SKProductsRequest(productIdentifiers: [Self.productIdentifier])
        request.delegate = self
        request.start()
        self.request = request
    }

    func productsRequest(_ request: SKProductsRequest, didReceive response: SKProductsResponse) {
        onProduct?(response.products.first, nil)
    }

    func request(_ request: SKRequest, didFailWithError error: any Error) {
        onProduct?(nil, error)
    }

    func paymentQueue(
        _ queue: SKPaymentQueue, updatedTransactions transactions: [SKPaymentTransaction]
    ) {
        for transaction in transactions {
            switch transaction.transactionState {
            case .purchased, .restored:
                // Also at the next launch, if this one ends half way.
                if transaction.downloads.isEmpty {
                    queue.finishTransaction(transaction)
                    onEnd?(nil)
                } else {
                    queue.start(transaction.downloads)
                    // What an earlier launch has downloaded is not reported again.
                    take(transaction.downloads, queue)
                }
            case .failed:
                queue.finishTransaction(transaction)
                onEnd?(transaction.error)
            case .purchasing, .deferred: break
            @unknown default: break
            }
        }
    }

    func paymentQueue(_ queue: SKPaymentQueue, updatedDownloads downloads: [SKDownload]) {
        take(downloads, queue)
    }

    private func take(_ downloads: [SKDownload], _ queue: SKPaymentQueue) {
        for download in downloads {
            switch download.state {
            case .active: onProgress?(download)
            case .finished: install(download, queue)
            case .failed: onEnd?(download.error)
            case .cancelled: onEnd?(nil)
            case .waiting, .paused: break
            @unknown default: break
            }
        }
    }

    /// Installs first, then finishes: the files are removed with the transaction.
    private func install(_ download: SKDownload, _ queue: SKPaymentQueue) {
        guard let content = download.contentURL else { return }
        do {
            try Level.install(from: content.appendingPathComponent("Contents"))
            queue.finishTransaction(download.transaction)
            onEnd?(nil)
        } catch {
            onEnd?(error)
        }
    }
}
