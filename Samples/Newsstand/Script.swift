// SPDX-License-Identifier: Apache-2.0

import StoreKit

/// Performs one action that is given by arguments, for scripts, and prints the
/// shelf. Exit codes: 0 done, 1 not done, 64 wrong arguments, 69 the store cannot
/// be reached.
final class Script {
    enum Verb {
        case products, shelf, restore, refresh, redeem, consent
        case subscribe(Magazine)
        case offer(Magazine)
    }

    static let usage = """
        usage: newsstand                              a menu
               newsstand subscribe gazette|monthly
               newsstand offer monthly                with a signed offer on standard input
               newsstand redeem                       asks for an offer's code
               newsstand consent                      to a higher price that was announced
               newsstand restore | refresh | shelf | products
        """

    private let verb: Verb
    private let kiosk: Kiosk
    private let deliveries: Deliveries

    init(verb: Verb, kiosk: Kiosk, deliveries: Deliveries) {
        self.verb = verb
        self.kiosk = kiosk
        self.deliveries = deliveries
    }

    static func verb(_ arguments: [String]) -> Verb? {
        switch (arguments.first, arguments.count) {
        case ("products", 1): return .products
        case ("shelf", 1): return .shelf
        case ("restore", 1): return .restore
        case ("refresh", 1): return .refresh
        case ("redeem", 1): return .redeem
        case ("consent", 1): return .consent
        case ("offer", 2): return Magazine.named(arguments[1]).map(Verb.offer)
        case ("subscribe", 2): return Magazine.named(arguments[1]).map(Verb.subscribe)
        default: return nil
        }
    }

    func start() {
        deliveries.onPayment = { self.end($0) }
        deliveries.onRestore = { self.end($0) }
        kiosk.loadProducts { error in
            if let error { self.end(error) } else { self.perform() }
        }
    }

    private func perform() {
        switch verb {
        case .products: listProducts()
        case .shelf: end(nil)
        case .restore: kiosk.restore()
        case .refresh: kiosk.refreshReceipt { self.end($0) }
        case .redeem: kiosk.redeem()
        case .consent:
            kiosk.showPriceConsent()
            kiosk.refreshReceipt { self.end($0) }
        case .offer(let magazine):
            let input = FileHandle.standardInput.readDataToEndOfFile()
            guard let offer = SignedOffer(input) else {
                fail("This is no signed offer.", 1)
            }
            if !kiosk.subscribe(to: magazine, with: offer.discount) {
                fail("The store does not sell this.", 1)
            }
        case .subscribe(let magazine):
            guard SKPaymentQueue.canMakePayments() else { fail("Store disabled", 1) }
            if !kiosk.subscribe(to: magazine) { fail("The store does not sell this.", 1) }
        }
    }

    private func listProducts() -> Never {
        for magazine in Magazine.all {
            guard let product = kiosk.product(of: magazine) else { continue }
            print("\(product.localizedTitle)\t\(Kiosk.price(of: product))")
            for offer in Kiosk.offers(of: product) { print("\t\(offer)") }
        }
        exit(0)
    }

    private func end(_ error: (any Error)?) {
        if let error {
            if Sentences.isCancelled(error) { exit(1) }
            let sentence = Sentences.failure(error)
            fail(sentence, sentence == "Network down?" ? 69 : 1)
        }
        let receipt = Receipt.current()
        for magazine in Magazine.all {
            print("\(magazine.name)\t\(Subscription(to: magazine, in: receipt).words)")
        }
        exit(0)
    }

    private func fail(_ sentence: String, _ code: Int32) -> Never {
        try? FileHandle.standardError.write(contentsOf: Data("\(sentence)\n".utf8))
        exit(code)
    }
}
