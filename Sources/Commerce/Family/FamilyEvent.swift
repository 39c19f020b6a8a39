// SPDX-License-Identifier: Apache-2.0

/// Something that happened to a customer in a family.
///
/// Stores keep events as JSON, so the names of cases and properties are part of
/// the stored form.
public struct FamilyEvent: Hashable, Sendable, Codable {
    /// Commercial time.
    public let at: Timestamp
    public let cause: SubscriptionEvent.Cause
    public let change: Change

    public enum Change: Hashable, Sendable, Codable {
        /// The customer's place in the family of `organiser` changed.
        case place(kind: FamilyChange.Kind, organiser: CustomerID)
        /// The customer got a transaction for a sale of `purchaser`.
        case granted(
            transaction: TransactionID, product: ProductID, purchaser: CustomerID,
            kind: FamilyStep.GrantKind)
        case ended(
            transaction: TransactionID, product: ProductID, purchaser: CustomerID,
            ending: FamilyShare.Ending)
        /// A period that is over was refunded, and that was taken back.
        case reinstated(
            transaction: TransactionID, product: ProductID, purchaser: CustomerID)
        case moved(transaction: TransactionID, to: Timestamp)
        /// The purchaser's renewal has changed, or could not be charged.
        case announced(
            transaction: TransactionID, product: ProductID, purchaser: CustomerID,
            announcement: FamilyAnnouncement)

        private enum CodingKeys: String, CodingKey {
            case place, granted, ended, reinstated, moved
            case announced = "billing"
        }

        private enum AnnouncedCodingKeys: String, CodingKey {
            case transaction, product, purchaser
            case announcement = "billing"
        }
    }

    public init(at: Timestamp, cause: SubscriptionEvent.Cause, change: Change) {
        self.at = at
        self.cause = cause
        self.change = change
    }
}
