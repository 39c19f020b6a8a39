// SPDX-License-Identifier: Apache-2.0

import StoreWire

/// What the app changes on this device about its promoted products. The store keeps it
/// for the device and its customer, so that the app's page obeys it.
extension Device {
    /// Returns the device's own order, without products that are not sold any more.
    func promotionOrder() async throws(DeviceFault) -> [ProductDescription] {
        let order = try await promotionOverrides().order
        guard !order.isEmpty else { return [] }
        let sold = try await products(ids: order).products
        let byID = Dictionary(sold.map { ($0.id, $0) }) { first, _ in first }
        return order.compactMap { byID[$0] }
    }

    /// Returns what this device overrides, and nothing of the store's own order and
    /// visibility.
    func promotionOverrides() async throws(DeviceFault) -> PromotionOverrides {
        try await overrides(.promotionOverrides, body: nil)
    }

    /// An empty order ends the override.
    func orderPromotions(_ products: [String]) async throws(DeviceFault) {
        let body = try encode(PromotionOrderRequest(products: products))
        _ = try await overrides(.orderPromotions, body: body)
    }

    func showPromotion(_ request: PromotionVisibility) async throws(DeviceFault) {
        _ = try await overrides(.showPromotion, body: try encode(request))
    }

    private func overrides(
        _ route: DeviceRoute, body: [UInt8]?
    ) async throws(DeviceFault) -> PromotionOverrides {
        let reply = try await call(route, body: body)
        guard reply.status == 200 else { throw refusal(reply) }
        return try decode(reply)
    }
}
