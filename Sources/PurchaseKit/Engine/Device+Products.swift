// SPDX-License-Identifier: Apache-2.0

import StoreWire

extension Device {
    /// Requests products and logs a line for each id without one. Throws a
    /// fault if the store cannot be reached. An app that shows products usually
    /// also checks whether its customer may buy, so that is requested again
    /// too.
    func products(ids: [String]) async throws(DeviceFault) -> ProductsResponse {
        _ = try await signInToBuy()
        var answer: ProductsResponse?
        var rest = ids[...]
        repeat {
            let page = try await askForProducts(Array(rest.prefix(ProductsRequest.idsMax)))
            rest = rest.dropFirst(ProductsRequest.idsMax)
            answer?.products += page.products
            answer?.invalid += page.invalid
            answer = answer ?? page
        } while !rest.isEmpty
        guard let answer else { throw .unknown(nil) }
        noteStorefront(answer.storefront)
        storeDisablesDialogs = answer.disablesDialogs == true
        for product in answer.products { productCache[product.id] = product }
        for invalid in answer.invalid {
            ports.log("No product \"\(invalid.id)\": \(invalid.reason)")
        }
        return answer
    }

    /// Returns a product as it was last shown, or requests it from the store.
    func product(_ id: String) async throws(DeviceFault) -> ProductDescription? {
        if let known = productCache[id] { return known }
        return try await products(ids: [id]).products.first { $0.id == id }
    }

    private func askForProducts(_ ids: [String]) async throws(DeviceFault) -> ProductsResponse {
        let reply = try await call(.products, body: encode(ProductsRequest(ids: ids)))
        guard reply.status == 200 else { throw refusal(reply) }
        return try decode(reply)
    }
}
