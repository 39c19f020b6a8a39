// SPDX-License-Identifier: Apache-2.0

/// What has become of a customer's choice of a product on the store's page. The app
/// decides whether a payment follows.
public enum PurchaseIntentState: String, CaseIterable, Sendable {
    /// No device has taken it up.
    case waiting
    /// A device has taken it up, and its app has not decided.
    case asked
    /// The app has let the payment go on.
    case continued
    /// The app does not let the payment go on now. It may add the payment later.
    case deferred
    /// It was taken back, or the product is not sold any more.
    case cancelled
    /// The app cannot take purchases that begin at the store.
    case noHandler
    /// No app has taken it up in time.
    case expired
    /// The app is older than the product.
    case tooOld

    /// Whether something may still come of it.
    public var isOpen: Bool { self == .waiting || self == .asked }

    /// The states that a device may report.
    public static let outcomes: [PurchaseIntentState] = [
        .continued, .deferred, .cancelled, .noHandler,
    ]

    /// One sentence for the customer.
    public var sentence: String {
        switch self {
        case .waiting: "The purchase waits for the app. Install or open it within 24 hours."
        case .asked: "The app has received the purchase and decides about it."
        case .continued: "The purchase goes on in the app."
        case .deferred: "The app does not go on with the purchase now. It may do so later."
        case .cancelled: "The purchase was cancelled before it began."
        case .noHandler:
            "The app does not take purchases that begin in the store. Buy the product in the app."
        case .expired: "The app has not taken the purchase up within 24 hours. Choose again."
        case .tooOld: "The app is too old for this product. Update it, and choose again."
        }
    }
}

/// Rules of choices on the store's page.
public enum PurchaseIntentRules {
    /// How long a choice waits for an app: 24 hours of wall time.
    public static let keptSeconds: Int64 = 86_400
    /// How long one device may hold a choice without an answer, once the customer has
    /// chosen again. Then another device may take it up.
    public static let heldSeconds: Int64 = 600
    /// How long the outcome can be read: 30 days.
    public static let outcomeKeptSeconds: Int64 = 30 * 86_400

    /// Whether an app's version is older than that with which a product came. A version
    /// that does not consist of numbers is not older than any.
    public static func isOlder(_ version: String, than needed: String) -> Bool {
        guard isAppVersion(version), isAppVersion(needed) else { return false }
        let (have, need) = (numbers(version), numbers(needed))
        return have.lexicographicallyPrecedes(need)
    }

    /// Four numbers, because `1.2` and `1.2.0` are the same version.
    private static func numbers(_ version: String) -> [Int] {
        let parts = version.split(separator: ".").map { Int($0) ?? 0 }
        return parts + Array(repeating: 0, count: max(0, 4 - parts.count))
    }
}
