// SPDX-License-Identifier: Apache-2.0

import Commerce
import Testing

@Suite struct DeclineRuleTests {
    /// A rule, and which of four payments it declines: customer, product, amount and
    /// attempt are 1 pro 9.90 1, then 2 pro 9.90 1, then 1 coins 0.99 2, then 1 coins 1 3.
    private static let table = """
        all                          | yes yes yes yes
        customer=1                   | yes no  yes yes
        product=pro                  | yes yes no  no
        amount=9.9                   | yes yes no  no
        amount=1                     | no  no  no  yes
        attempt=2                    | no  no  yes no
        customer=1 product=pro       | yes no  no  no
        product=coins attempt=3      | no  no  no  yes
        customer=3                   | no  no  no  no
        """

    private static let payments = [
        AuthorisedPayment(
            customer: CustomerID(1), product: "pro", amount: Amount(milliunits: 9900), attempt: 1),
        AuthorisedPayment(
            customer: CustomerID(2), product: "pro", amount: Amount(milliunits: 9900), attempt: 1),
        AuthorisedPayment(
            customer: CustomerID(1), product: "coins", amount: Amount(milliunits: 990), attempt: 2),
        AuthorisedPayment(
            customer: CustomerID(1), product: "coins", amount: Amount(milliunits: 1000),
            attempt: 3),
    ]

    @Test(arguments: table.split(separator: "\n").map(String.init))
    func `a rule declines what it names`(line: String) throws {
        let cells = line.split(separator: "|").map { String($0) }
        var text = cells[0]
        while text.last == " " { text.removeLast() }
        let rule = try #require(DeclineRule(text))
        let answers = Self.payments.map { rule.declines($0) ? "yes" : "no" }
        #expect(answers == cells[1].split(separator: " ").map(String.init))
        #expect(rule.text == text && DeclineRule(rule.text) == rule)
    }

    @Test(arguments: [
        "", " ", "all ", "everything", "product", "product=", "product=a b", "product=a  amount=1",
        "amount=-1", "amount=1,5", "amount=0.0001", "attempt=0", "attempt=1.5", "customer=0",
        "customer=ann", "attempt=1 attempt=2", "Product=a", "attempt=1000001",
    ])
    func `what is no rule is not read`(text: String) {
        #expect(DeclineRule(text) == nil)
        // Spaces at the ends of a rule do not count in a list of them.
        #expect((Fault(.payments, value: text) == nil) == (text != "all "))
    }

    @Test func `several rules are one value`() throws {
        let fault = try #require(
            Fault(.payments, value: "product=pro;customer=7 attempt=1 ;  amount=1.50"))
        #expect(fault.value == "product=pro; customer=7 attempt=1; amount=1.5")
        #expect(Fault(.payments, value: fault.value) == fault)
        #expect(Fault(.payments, value: "all;") == nil)
        #expect(Fault(.devices, value: "500")?.value == "500")
        for text in ["", "499", "600", "x"] { #expect(Fault(.devices, value: text) == nil) }
    }

    @Test func `the sandbox's authoriser declines, and only where it is asked`() throws {
        let product = Product(
            id: "coins", kind: .consumable, referenceName: "", price: Amount(milliunits: 990),
            localizations: [])
        func decision(_ authoriser: AuthoriserKind, _ rule: String) throws -> PurchaseDecision {
            PurchaseDecision.decide(
                Payment(
                    productID: "coins", quantity: 2,
                    shownUnitPrice: Money(
                        Amount(milliunits: 990), try #require(Currency(code: "USD")))),
                PurchaseFacts(
                    product: product, storefront: try #require(Storefront.named("USA")),
                    mayBuy: true, owned: nil, authoriser: authoriser,
                    declines: [try #require(DeclineRule(rule))], customer: CustomerID(7),
                    attempt: 2))
        }
        #expect(try decision(.rule, "amount=1.98 attempt=2") == .refuse(.declined))
        #expect(try decision(.rule, "amount=0.99") != .refuse(.declined))
        #expect(try decision(.rule, "customer=7") == .refuse(.declined))
        #expect(try decision(.processor, "all") != .refuse(.declined))
    }
}
