// SPDX-License-Identifier: Apache-2.0

/// The state of a payment.
/// [Apple's page](https://developer.apple.com/documentation/storekit/skpaymenttransactionstate)
///
/// Open, like Apple's: any number makes a value, and a `switch` over it needs
/// `@unknown default`. It is a Swift type and not an enumeration of a C module.
/// Otherwise another package in the app's graph would not find the C module,
/// and its `#if canImport(StoreKit)` would stop the build.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum SKPaymentTransactionState: Hashable, Sendable {
    case purchasing, purchased, failed, restored, deferred
    @available(*, unavailable, message: "match it with @unknown default")
    case _undocumented(Int)
}

extension SKPaymentTransactionState: RawRepresentable {
    private static let documented: [Self] = [
        .purchasing, .purchased, .failed, .restored, .deferred,
    ]

    public init?(rawValue: Int) {
        self =
            Self.documented.indices.contains(rawValue)
            ? Self.documented[rawValue] : UndocumentedNumber(rawValue).value()
    }

    /// Written out, because `==` compares raw values.
    public var rawValue: Int {
        switch self {
        case .purchasing: 0
        case .purchased: 1
        case .failed: 2
        case .restored: 3
        case .deferred: 4
        case ._undocumented(let number): number
        }
    }
}
