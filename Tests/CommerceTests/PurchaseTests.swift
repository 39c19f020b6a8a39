// SPDX-License-Identifier: Apache-2.0

import Commerce
import Testing

@Suite struct PurchaseDecisionTests {
    /// The product costs 1.99 in dollars.
    private static let table = """
        product         quantity  shown     may buy  owned  authoriser  answer
        none            1         1.99 USD  yes      no     rule        refuse unknownProduct
        auto-renewable  1         1.99 USD  yes      no     rule        refuse notSoldYet
        non-renewing    1         1.99 USD  yes      no     rule        sell 1.99 USD
        non-renewing    2         1.99 USD  yes      no     processor   authorise 3.98 USD
        non-renewing    11        1.99 USD  yes      no     rule        refuse quantityOutOfRange
        consumable      1         1.99 USD  yes      no     rule        sell 1.99 USD
        consumable      10        1.99 USD  yes      no     rule        sell 19.90 USD
        consumable      3         1.99 USD  yes      no     processor   authorise 5.97 USD
        consumable      0         1.99 USD  yes      no     rule        refuse quantityOutOfRange
        consumable      -1        1.99 USD  yes      no     rule        refuse quantityOutOfRange
        consumable      11        1.99 USD  yes      no     rule        refuse quantityOutOfRange
        non-consumable  1         1.99 USD  yes      no     rule        sell 1.99 USD
        non-consumable  2         1.99 USD  yes      no     rule        refuse quantityOfNonConsumable
        non-consumable  11        1.99 USD  yes      no     rule        refuse quantityOutOfRange
        non-consumable  1         1.99 USD  yes      yes    rule        deliver
        non-consumable  1         9.99 EUR  no       yes    none        deliver
        non-consumable  2         1.99 USD  yes      yes    rule        refuse quantityOfNonConsumable
        consumable      1         9.99 EUR  no       yes    none        deliver
        non-renewing    2         1.99 USD  yes      yes    rule        deliver
        consumable      11        1.99 USD  yes      yes    rule        refuse quantityOutOfRange
        consumable      1         9.99 EUR  no       open   none        join
        non-renewing    2         1.99 USD  yes      open   rule        join
        non-consumable  1         1.99 USD  yes      open   rule        join
        non-consumable  2         1.99 USD  yes      open   rule        refuse quantityOfNonConsumable
        consumable      1         1.99 USD  yes      both   rule        deliver
        none            1         1.99 USD  yes      open   rule        refuse unknownProduct
        consumable      1         1.99 USD  no       no     rule        refuse purchasesNotAllowed
        consumable      1         1.98 USD  yes      no     rule        refuse priceChanged
        consumable      1         1.99 EUR  yes      no     rule        refuse priceChanged
        consumable      1         1.98 USD  yes      no     none        refuse priceChanged
        consumable      1         1.99 USD  yes      no     none        refuse noProcessor
        """

    @Test(arguments: table.split(separator: "\n").dropFirst().map(String.init))
    func `a payment has one answer`(line: String) throws {
        let words = line.split(separator: " ").map(String.init)
        let quantity = try #require(Int(words[1]))
        let shown = Money(
            try #require(Amount(decimal: words[2])), try #require(Currency(code: words[3])))
        let facts = try Self.facts(
            product: words[0], mayBuy: words[4] == "yes",
            owned: words[5] == "yes" || words[5] == "both",
            open: words[5] == "open" || words[5] == "both",
            authoriser: try #require(AuthoriserKind(rawValue: words[6])))
        let payment = Payment(productID: "a", quantity: quantity, shownUnitPrice: shown)
        let answer = PurchaseDecision.decide(payment, facts)
        #expect(Self.text(answer) == words.dropFirst(7).joined(separator: " "))
    }

    private static func text(_ decision: PurchaseDecision) -> String {
        switch decision {
        case .refuse(let refusal): "refuse \(refusal.rawValue)"
        case .deliverOwned: "deliver"
        case .join: "join"
        case .arrange: "arrange"
        case .sell(let sale): "sell \(sale.total)"
        case .authorise(let sale): "authorise \(sale.total)"
        }
    }

    private static func facts(
        product: String, mayBuy: Bool, owned: Bool, open: Bool, authoriser: AuthoriserKind
    ) throws -> PurchaseFacts {
        let product = ProductType(rawValue: product).map {
            Product(
                id: "a", kind: ProductKind($0), referenceName: "", price: Amount(milliunits: 1990),
                localizations: [])
        }
        return PurchaseFacts(
            product: product, storefront: try #require(Storefront.named("USA")), mayBuy: mayBuy,
            owned: owned ? TransactionID(7) : nil, authoriser: authoriser,
            open: open ? PurchaseID("p") : nil)
    }

    @Test func `the first broken rule in order is reported`() throws {
        let products = ["none"] + ProductType.allCases.map(\.rawValue)
        let quantities = [Int.min, -1, 0, 1, 2, 10, 11, Int.max]
        let dollar = try #require(Currency(code: "USD"))
        let euro = try #require(Currency(code: "EUR"))
        let right = Money(Amount(milliunits: 1990), dollar)
        let prices = [right, Money(Amount(milliunits: 1991), dollar), Money(right.amount, euro)]
        var cases = 0
        for product in products {
            for quantity in quantities {
                for price in prices {
                    for authoriser in [AuthoriserKind.rule, .processor, .none] {
                        for bits in 0..<8 {
                            let facts = try Self.facts(
                                product: product, mayBuy: bits & 1 == 1, owned: bits & 2 == 2,
                                open: bits & 4 == 4, authoriser: authoriser)
                            let payment = Payment(
                                productID: "a", quantity: quantity, shownUnitPrice: price)
                            let answer = PurchaseDecision.decide(payment, facts)
                            let model = Self.model(payment, facts, isRight: price == right)
                            #expect(answer == model, "\(payment) \(facts)")
                            cases += 1
                        }
                    }
                }
            }
        }
        #expect(cases == 5 * 8 * 3 * 3 * 8)
    }

    /// Every rule by itself; the declared order picks.
    private static func model(
        _ payment: Payment, _ facts: PurchaseFacts, isRight: Bool
    ) -> PurchaseDecision {
        let type = facts.product?.type
        let isOnce = type == .nonConsumable
        let broken: [PurchaseRefusal: Bool] = [
            .unknownProduct: type == nil,
            .notSoldYet: type == .autoRenewable,
            .quantityOutOfRange: payment.quantity < 1 || payment.quantity > 10,
            .quantityOfNonConsumable: isOnce && payment.quantity != 1,
            .purchasesNotAllowed: !facts.mayBuy,
            .priceChanged: !isRight,
            .noProcessor: facts.authoriser == .none,
            .declined: false,
        ]
        let first = PurchaseRefusal.allCases.first { broken[$0] == true }
        let early: [PurchaseRefusal] = [
            .unknownProduct, .notSoldYet, .quantityOutOfRange, .quantityOfNonConsumable,
        ]
        if let first, early.contains(first) { return .refuse(first) }
        if let owned = facts.owned { return .deliverOwned(owned) }
        if let open = facts.open { return .join(open) }
        if let first { return .refuse(first) }
        guard let product = facts.product else { return .refuse(.unknownProduct) }
        let sale = Sale(
            product: product, quantity: payment.quantity, storefront: facts.storefront)
        return facts.authoriser == .rule ? .sell(sale) : .authorise(sale)
    }

    @Test func `an approval may take a day`() {
        let asked = Timestamp(milliseconds: 5)
        #expect(ApprovalAnswer.deadline(askedAt: asked).milliseconds == 86_400_005)
    }

    @Test func `the order of refusals is contract`() {
        #expect(
            PurchaseRefusal.allCases.map(\.rawValue) == [
                "simulated", "storeFault", "unknownProduct", "notSoldYet", "quantityOutOfRange",
                "quantityOfNonConsumable", "offerTokenInvalid", "offerKeyUnknown",
                "offerSignatureInvalid", "offerOutdated", "offerNonceUsed", "offerCodeInvalid",
                "offerUnknown", "offerNotEligible", "purchasesNotAllowed", "priceChanged",
                "noProcessor", "declined",
                "approvalDeclined", "approvalTimedOut", "notRecorded",
            ])
    }
}

@Suite struct PaymentTests {
    private func payment(
        _ product: ProductID = "a", quantity: Int = 1, price: Int64 = 990,
        currency: String = "USD", username: String? = nil, replaces: PurchaseID? = nil
    ) throws -> Payment {
        Payment(
            productID: product, quantity: quantity,
            shownUnitPrice: Money(
                Amount(milliunits: price), try #require(Currency(code: currency))),
            applicationUsername: username, replaces: replaces)
    }

    @Test func `the first differing field is named`() throws {
        let one = try payment()
        #expect(one.firstDifference(from: one) == nil)
        let others: [(Payment, String)] = [
            (try payment("b"), "productId"), (try payment(quantity: 2), "quantity"),
            (try payment(price: 991), "unitPrice"), (try payment(currency: "EUR"), "currency"),
            (try payment(username: "u"), "applicationUsername"),
            (try payment(replaces: "p"), "replaces"),
            (try payment(quantity: 2, price: 1, username: "u"), "quantity"),
        ]
        for (other, field) in others {
            #expect(one.firstDifference(from: other) == field)
            #expect(other.firstDifference(from: one) == field)
        }
    }

    @Test func `a username that is a UUID is the account token`() throws {
        let upper = "6B1F0B9E-2F5C-4D0E-9A57-0D6F3C1E8A11"
        #expect(try payment(username: upper).appAccountToken?.text == upper.lowercased())
        #expect(try payment(username: "blob").appAccountToken == nil)
        #expect(try payment().appAccountToken == nil)
    }
}
