// SPDX-License-Identifier: Apache-2.0

import Foundation
import PurchaseKit
import Synchronization

/// Awaits one `SKProductsRequest`. A class, because delegates are classes.
final class ProductsQuestion: NSObject, SKProductsRequestDelegate, Sendable {
    private let continuation = Mutex<CheckedContinuation<[SKProduct], any Error>?>(nil)

    static func ask(_ ids: Set<String>, _ device: Device) async throws -> [SKProduct] {
        let question = ProductsQuestion()
        let request = SKProductsRequest(productIdentifiers: ids, device: device)
        request.delegate = question
        // Until the answer comes, there are no other references to them.
        defer { withExtendedLifetime((question, request)) {} }
        return try await withCheckedThrowingContinuation { continuation in
            question.continuation.withLock { $0 = continuation }
            request.start()
        }
    }

    func productsRequest(
        _ request: SKProductsRequest, didReceive response: SKProductsResponse
    ) {
        end(.success(response.products))
    }

    func request(_ request: SKRequest, didFailWithError error: any Error) {
        end(.failure(error))
    }

    private func end(_ result: Result<[SKProduct], any Error>) {
        let waiting = continuation.withLock { waiting in
            defer { waiting = nil }
            return waiting
        }
        waiting?.resume(with: result)
    }
}
