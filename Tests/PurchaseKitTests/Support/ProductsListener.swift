// SPDX-License-Identifier: Apache-2.0

import Foundation
import PurchaseKit

/// Waits for a products request.
final class ProductsListener: NSObject, SKProductsRequestDelegate, @unchecked Sendable {
    private var continuation: CheckedContinuation<SKProductsResponse, any Error>?
    private var request: SKProductsRequest?
    private var response: SKProductsResponse?

    static func ask(_ ids: Set<String>, _ device: Device) async throws -> SKProductsResponse {
        let listener = ProductsListener()
        return try await withCheckedThrowingContinuation { continuation in
            listener.continuation = continuation
            let request = SKProductsRequest(productIdentifiers: ids, device: device)
            listener.request = request
            request.delegate = listener
            // The request holds its delegate weakly; the pair ends with the answer.
            listener.me = listener
            request.start()
        }
    }

    private var me: ProductsListener?

    func productsRequest(_ request: SKProductsRequest, didReceive response: SKProductsResponse) {
        self.response = response
    }

    func requestDidFinish(_ request: SKRequest) {
        if let response { continuation?.resume(returning: response) }
        end()
    }

    func request(_ request: SKRequest, didFailWithError error: any Error) {
        continuation?.resume(throwing: error)
        end()
    }

    private func end() {
        continuation = nil
        request = nil
        me = nil
    }
}
