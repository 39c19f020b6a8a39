// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import Storage

/// The part of a listing that no query uses, as JSON in its row. Only values
/// other than the defaults are written, so most rows contain `{}`.
private struct StoredListing: Codable {
    struct Price: Codable {
        let storefront: String
        let price: Int64
        var startsAt: Int64?
    }

    var hasNoBasePrice: Bool?
    var prices: [Price]?
    var storefronts: [String]?
    var isHosted: Bool?
    var images: [String]?
    var isFree: Bool?
}

extension Listing {
    init(row: Row) throws {
        guard let state = ReviewState(rawValue: try row.text("state")) else {
            throw StorageFault(.malformedRow, "a product in no known state")
        }
        let isWithdrawn = try row.optionalInteger("withdrawn_at") != nil
        let text = try row.text("listing")
        self.init(state: state, isWithdrawn: isWithdrawn)
        guard text != "{}" else { return }
        guard let stored = try? JSONDecoder().decode(StoredListing.self, from: Data(text.utf8))
        else { throw StorageFault(.malformedRow, "a product's listing cannot be read") }
        hasBasePrice = stored.hasNoBasePrice != true
        prices = (stored.prices ?? []).map { price in
            StorefrontPrice(
                storefront: price.storefront, amount: Amount(milliunits: price.price),
                startsAt: price.startsAt.map(Timestamp.init(milliseconds:)))
        }
        storefronts = stored.storefronts
        isHosted = stored.isHosted ?? false
        images = stored.images ?? []
        isFree = stored.isFree ?? false
    }

    /// Returns the text that ``init(row:)`` reads from the column `listing`.
    func stored() throws -> String {
        let stored = StoredListing(
            hasNoBasePrice: hasBasePrice ? nil : true,
            prices: prices.isEmpty
                ? nil
                : prices.map {
                    .init(
                        storefront: $0.storefront, price: $0.amount.milliunits,
                        startsAt: $0.startsAt?.milliseconds)
                },
            storefronts: storefronts, isHosted: isHosted ? true : nil,
            images: images.isEmpty ? nil : images, isFree: isFree ? true : nil)
        return try json(stored)
    }
}

/// An app's settings, as JSON in its row.
private struct StoredSettings: Codable {
    struct Failing: Codable {
        let call: String
        let kind: String
        let index: Int
    }

    var timeRate: Int?
    var asksToBuy: Bool?
    var interruptsPurchases: Bool?
    var failsRenewals: Bool?
    var hasGracePeriod: Bool?
    var disablesDialogs: Bool?
    var errors: [Failing]?
}

extension SandboxSettings {
    init(stored text: String) throws {
        guard let stored = try? JSONDecoder().decode(StoredSettings.self, from: Data(text.utf8))
        else { throw StorageFault(.malformedRow, "an app's settings cannot be read") }
        self.init(
            timeRate: stored.timeRate.flatMap(TimeRate.init(rawValue:)) ?? .real,
            asksToBuy: stored.asksToBuy ?? false,
            interruptsPurchases: stored.interruptsPurchases ?? false,
            failsRenewals: stored.failsRenewals ?? false,
            hasGracePeriod: stored.hasGracePeriod ?? false,
            disablesDialogs: stored.disablesDialogs ?? false,
            errors: (stored.errors ?? []).compactMap { error in
                guard let call = SimulatedError.Call(rawValue: error.call),
                    let kind = SimulatedError.Kind(rawValue: error.kind)
                else { return nil }
                return SimulatedError(call: call, kind: kind, index: error.index)
            })
    }

    func stored() throws -> String {
        try json(
            StoredSettings(
                timeRate: timeRate == .real ? nil : timeRate.rawValue,
                asksToBuy: asksToBuy ? true : nil,
                interruptsPurchases: interruptsPurchases ? true : nil,
                failsRenewals: failsRenewals ? true : nil,
                hasGracePeriod: hasGracePeriod ? true : nil,
                disablesDialogs: disablesDialogs ? true : nil,
                errors: errors.isEmpty
                    ? nil
                    : errors.map {
                        .init(call: $0.call.rawValue, kind: $0.kind.rawValue, index: $0.index)
                    }))
    }
}

private func json(_ value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(value), as: UTF8.self)
}
