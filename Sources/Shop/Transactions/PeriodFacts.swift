// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StrictJSON

/// What the transaction of a subscription's period has besides other
/// transactions.
struct PeriodFacts: Sendable {
    let groupID: String
    var expiresAt: Timestamp
    let offer: AppliedOffer?
    var commitment: PeriodCommitment?
    /// Whether the customer changed to a better product before its end.
    var isUpgraded: Bool

    init(_ period: SubscribedPeriod, groupID: String) {
        self.groupID = groupID
        expiresAt = period.end
        offer = period.offer
        commitment = PeriodCommitment(period)
        isUpgraded = false
    }

    /// Nil if the row is not one of a subscription's period.
    init?(_ row: Row) throws {
        guard let group = try row.optionalText("group_id"),
            let end = try row.optionalInteger("expires_at")
        else { return nil }
        groupID = group
        expiresAt = Timestamp(milliseconds: end)
        offer = try row.optionalText("offer").map(Self.offer(stored:))
        commitment = try row.optionalText("commitment").map { text in
            try StoredJSON.value(text, "a commitment that cannot be read")
        }
        isUpgraded = try row.boolean("is_upgraded")
    }

    /// The period as a member of the family has it: without what concerns the price.
    var shared: PeriodFacts {
        PeriodFacts(
            groupID: groupID, expiresAt: expiresAt, offer: nil, commitment: nil,
            isUpgraded: isUpgraded)
    }

    private init(
        groupID: String, expiresAt: Timestamp, offer: AppliedOffer?,
        commitment: PeriodCommitment?, isUpgraded: Bool
    ) {
        self.groupID = groupID
        self.expiresAt = expiresAt
        self.offer = offer
        self.commitment = commitment
        self.isUpgraded = isUpgraded
    }

    var storedCommitment: String? { commitment.map { StoredJSON.text($0) } }

    var storedOffer: String? { offer.map { StoredJSON.text($0) } }

    private static func offer(stored text: String) throws -> AppliedOffer {
        try StoredJSON.value(text, "an offer that cannot be read")
    }
}

/// The part of a commitment that a transaction pays for.
struct PeriodCommitment: Hashable, Sendable, Codable {
    /// From 1.
    let number: Int
    let periods: Int
    /// The price of all parts.
    let price: Money
    var endsAt: Timestamp

    init?(_ period: SubscribedPeriod) {
        guard let part = period.commitment, let end = period.commitmentEnd else { return nil }
        number = part.number
        periods = part.periods
        price = part.price
        endsAt = end
    }
}

/// Values that a row keeps as JSON, because no query uses their parts.
enum StoredJSON {
    /// The text of a column. The same value has always the same text.
    static func text(_ value: some Encodable) -> String {
        do { return String(decoding: try StrictJSON.encode(value), as: UTF8.self) } catch {
            preconditionFailure("a value of texts and integers is always JSON: \(error)")
        }
    }

    static func value<Value: Decodable>(_ text: String, _ fault: String) throws -> Value {
        guard let value = try? StrictJSON.decode(Value.self, from: Array(text.utf8)) else {
            throw StorageFault(.malformedRow, fault)
        }
        return value
    }
}

extension OfferKind {
    /// The number in signed transactions.
    /// [Apple's page](https://developer.apple.com/documentation/appstoreserverapi/offertype)
    var wireNumber: Int {
        switch self {
        case .introductory: 1
        case .promotional: 2
        case .code: 3
        case .winBack: 4
        }
    }
}

extension Offer.PaymentMode {
    /// The name in signed transactions.
    /// [Apple's page](https://developer.apple.com/documentation/appstoreserverapi/offerdiscounttype)
    var wireName: String {
        switch self {
        case .free: "FREE_TRIAL"
        case .payUpFront: "PAY_UP_FRONT"
        case .payAsYouGo: "PAY_AS_YOU_GO"
        }
    }
}
