// SPDX-License-Identifier: Apache-2.0

/// Where a payment stands.
/// [Apple's page](https://developer.apple.com/documentation/storekit/skpaymenttransactionstate)
///
/// Open, as Apple's is: any number makes a value, and a `switch` over it wants
/// `@unknown default`. It is a Swift type, and no enumeration of a C module:
/// a package that only stands beside this one in an app's graph would not find
/// the C module, and `#if canImport(StoreKit)` would stop its build.
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

    /// Spelled out, since `==` compares raw values.
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

/// Makes the case `_undocumented` of an open enumeration. The compiler refuses
/// an unavailable case to this module too, so the value is made with the same
/// bytes: any enumeration of one case with an `Int` and others without has them.
struct UndocumentedNumber {
    private enum Shape {
        case documented
        case undocumented(Int)
    }

    private let shape: Shape

    init(_ number: Int) {
        shape = .undocumented(number)
    }

    func value<Open: RawRepresentable<Int>>() -> Open { unsafeBitCast(shape, to: Open.self) }
}
