// SPDX-License-Identifier: Apache-2.0

/// Which payments a sandbox's authoriser declines: those of a customer, for a product,
/// of an amount, at an attempt, or any of these together.
public struct DeclineRule: Hashable, Sendable {
    public private(set) var customer: CustomerID?
    public private(set) var product: ProductID?
    /// The price of the whole quantity.
    public private(set) var amount: Amount?
    /// Which of the customer's payments for the product, from 1. Payments that did
    /// not reach the authoriser do not count.
    public private(set) var attempt: Int?

    /// Parses `all`, or words like `product=pro attempt=1`, each at most once. Nil if
    /// the text is no rule.
    public init?(_ text: String) {
        if text == "all" { return }
        var seen: Set<Substring> = []
        for word in text.split(separator: " ", omittingEmptySubsequences: false) {
            guard let equals = word.firstIndex(of: "=") else { return nil }
            let (name, value) = (word[..<equals], String(word[word.index(after: equals)...]))
            guard seen.insert(name).inserted, read(name, value) else { return nil }
        }
    }

    private mutating func read(_ name: Substring, _ value: String) -> Bool {
        switch name {
        case "customer":
            customer = Self.number(value, 1...Int64.max).map { CustomerID($0) }
            return customer != nil
        case "product":
            product = IDText.isID(value) ? ProductID(value) : nil
            return product != nil
        case "amount":
            amount = Amount(decimal: value)
            return amount != nil
        case "attempt":
            attempt = Self.number(value, 1...1_000_000).map { Int($0) }
            return attempt != nil
        default: return false
        }
    }

    private static func number(_ text: String, _ range: ClosedRange<Int64>) -> Int64? {
        guard text.utf8.allSatisfy({ (48...57).contains($0) }), let number = Int64(text),
            range.contains(number)
        else { return nil }
        return number
    }

    /// The rule in its shortest form, which reads back as the same rule.
    public var text: String {
        let words = [
            customer.map { "customer=\($0)" }, product.map { "product=\($0)" },
            amount.map { "amount=\($0.shortText)" }, attempt.map { "attempt=\($0)" },
        ].compactMap { $0 }
        return words.isEmpty ? "all" : words.joined(separator: " ")
    }

    /// Whether it declines a payment.
    public func declines(_ payment: AuthorisedPayment) -> Bool {
        (customer == nil || customer == payment.customer)
            && (product == nil || product == payment.product)
            && (amount == nil || amount == payment.amount)
            && (attempt == nil || attempt == payment.attempt)
    }
}

extension Amount {
    /// In units, without zeros at the end: `9.9`.
    fileprivate var shortText: String {
        let (units, rest) = milliunits.quotientAndRemainder(dividingBy: 1000)
        guard rest > 0 else { return "\(units)" }
        var digits = String("\(1000 + rest)".dropFirst())
        while digits.last == "0" { digits.removeLast() }
        return "\(units).\(digits)"
    }
}

/// What a sandbox's authoriser knows of a payment.
public struct AuthorisedPayment: Hashable, Sendable {
    public let customer: CustomerID
    public let product: ProductID
    /// The price of the whole quantity.
    public let amount: Amount
    /// Which of the customer's payments for the product it is, from 1.
    public let attempt: Int

    public init(customer: CustomerID, product: ProductID, amount: Amount, attempt: Int) {
        self.customer = customer
        self.product = product
        self.amount = amount
        self.attempt = attempt
    }
}
