// SPDX-License-Identifier: Apache-2.0

public import Commerce
import StoreWire

/// What a subscription charges after the sum that is due now.
public struct SheetSubscription: Hashable, Sendable {
    /// The length of one period.
    public var period: Period
    /// The regular price of one period.
    public var price: Money
    /// The offer that begins now: its length, and the number of
    /// times that the sum is charged. Nil without one.
    public var offerPeriod: Period?
    public var offerCharges: Int

    public init(period: Period, price: Money, offerPeriod: Period? = nil, offerCharges: Int = 1) {
        self.period = period
        self.price = price
        self.offerPeriod = offerPeriod
        self.offerCharges = offerCharges
    }

    init?(_ product: ProductDescription, _ currency: Currency) {
        guard let period = product.subscriptionPeriod.flatMap({ Period(iso8601: $0) }) else {
            return nil
        }
        self.init(
            period: period, price: Money(Amount(milliunits: product.price), currency),
            offerPeriod: product.offer.flatMap { Period(iso8601: $0.period) },
            offerCharges: product.offer?.periodCount ?? 1)
    }

    /// A sentence for the sheet: `Renews for $4.99 every month, until cancelled.`
    func sentence(_ formatted: (Money) -> String) -> String {
        let regular = "\(formatted(price)) every \(period.words)"
        guard let offerPeriod else { return "Renews for \(regular), until cancelled." }
        let length =
            offerCharges > 1
            ? "\(offerCharges) times, once every \(offerPeriod.words)"
            : "for the first \(offerPeriod.words)"
        return "This price is charged \(length). Then it renews for \(regular), until cancelled."
    }
}

extension Period {
    /// `month`, `3 months`.
    fileprivate var words: String { count == 1 ? "\(unit)" : "\(count) \(unit)s" }
}
