// SPDX-License-Identifier: Apache-2.0

import Foundation
import Hummingbird
import SignedData

/// The server's addresses.
struct Routes {
    let delivery: Delivery

    /// What is sold, without what is delivered.
    struct Offer: ResponseEncodable {
        let name: String
        let productIdentifier: String
    }

    struct Proof: Decodable {
        /// In Base64.
        let receipt: String
    }

    func router() -> Router<BasicRequestContext> {
        let (router, delivery) = (Router(), delivery)
        router.get("filters") { _, _ in
            delivery.filters.map { Offer(name: $0.name, productIdentifier: $0.productIdentifier) }
        }
        router.post("deliveries") { request, context in
            let proof = try await request.decode(as: Proof.self, context: context)
            do {
                return try delivery.addresses(
                    for: [UInt8](Data(base64Encoded: proof.receipt) ?? Data()))
            } catch let failure as VerificationFailure {
                throw HTTPError(.forbidden, message: "the receipt proves nothing: \(failure)")
            }
        }
        router.get("files/{name}") { request, context in
            let query = request.uri.queryParameters
            guard
                let filter = delivery.filter(
                    try context.parameters.require("name"),
                    expires: String(query["expires"] ?? ""),
                    signature: String(query["signature"] ?? ""))
            else { throw HTTPError(.forbidden, message: "send the receipt for a new address") }
            return filter
        }
        return router
    }
}

extension Filter: ResponseEncodable {}
