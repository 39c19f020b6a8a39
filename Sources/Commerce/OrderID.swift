// SPDX-License-Identifier: Apache-2.0

/// The id of an order, as a customer reads it in the confirmation: `M` and ten digits
/// of base 32. One order has one transaction, so each is computed from the other's
/// number and no row contains an order id.
///
/// ```swift
/// OrderID(of: 2_000_000_000_001_000)?.text  // "M00000000Z8"
/// ```
public struct OrderID: Hashable, Sendable {
    /// The transaction of the order.
    public let transaction: TransactionID
    /// The id in upper case.
    public let text: String

    /// Without the letters I, L, O and U, which are easily misread.
    private static let digits = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)
    private static let length = 10
    private static let first = IDKind.transaction.rawValue * 1_000_000_000_000_000

    /// Nil unless the number is a transaction's.
    public init?(of transaction: TransactionID) {
        guard NumberLayout(number: transaction.value)?.kind == .transaction else { return nil }
        var rest = transaction.value - Self.first
        var digits: [UInt8] = []
        for _ in 0..<Self.length {
            digits.append(Self.digits[Int(rest % 32)])
            rest /= 32
        }
        self.transaction = transaction
        text = "M" + String(decoding: digits.reversed(), as: UTF8.self)
    }

    /// Parses an id as a customer may type it, in either case. Nil if no order can
    /// have it.
    public init?(_ text: String) {
        let typed = Array(text.uppercased().utf8)
        guard typed.count == Self.length + 1, typed[0] == UInt8(ascii: "M") else { return nil }
        var number: Int64 = 0
        for digit in typed.dropFirst() {
            guard let value = Self.digits.firstIndex(of: digit) else { return nil }
            number = number * 32 + Int64(value)
        }
        guard let order = OrderID(of: TransactionID(Self.first + number)) else { return nil }
        self = order
    }
}
