// SPDX-License-Identifier: Apache-2.0

import Foundation
import PurchaseKit
import Synchronization
import TestSupport

/// Waits for a products request.
final class ProductsListener: NSObject, SKProductsRequestDelegate, Sendable {
    private struct State {
        var response: SKProductsResponse?
        var outcome: Result<SKProductsResponse, any Error>?
    }

    private let state = Mutex(State())

    static func ask(_ ids: Set<String>, _ device: Device) async throws -> SKProductsResponse {
        let listener = ProductsListener()
        let request = SKProductsRequest(productIdentifiers: ids, device: device)
        request.delegate = listener
        request.start()
        await until("an answer about \(ids)") { listener.state.withLock { $0.outcome != nil } }
        // The request holds its delegate weakly.
        return try withExtendedLifetime(request) {
            guard let outcome = listener.state.withLock({ $0.outcome }) else {
                throw CancellationError()
            }
            return try outcome.get()
        }
    }

    func productsRequest(_ request: SKProductsRequest, didReceive response: SKProductsResponse) {
        state.withLock { $0.response = response }
    }

    func requestDidFinish(_ request: SKRequest) {
        state.withLock { state in state.outcome = state.response.map { .success($0) } }
    }

    func request(_ request: SKRequest, didFailWithError error: any Error) {
        state.withLock { $0.outcome = .failure(error) }
    }
}
