// SPDX-License-Identifier: Apache-2.0

import StoreKit

/// Performs one action that is given by arguments, for scripts. Exit codes: 0
/// done, 1 not done, 64 wrong arguments, 69 the store cannot be reached.
final class Script {
    enum Verb {
        case products
        case balance
        case spend(Int)
        case buy(Pack, quantity: Int)
    }

    static let usage = """
        usage: monkey-credits                          a menu
               monkey-credits buy 5|10 [--quantity 1…10]
               monkey-credits balance | products | spend N
        """

    private let verb: Verb
    private let manager: PurchaseManager
    private let wallet: Wallet
    private let listener = Listener()

    init(verb: Verb, manager: PurchaseManager, wallet: Wallet) {
        self.verb = verb
        self.manager = manager
        self.wallet = wallet
    }

    static func verb(_ arguments: [String]) -> Verb? {
        switch arguments.first {
        case "products" where arguments.count == 1: return .products
        case "balance" where arguments.count == 1: return .balance
        case "spend" where arguments.count == 2:
            return Int(arguments[1]).flatMap { $0 > 0 ? .spend($0) : nil }
        case "buy" where arguments.count == 2 || arguments.count == 4:
            guard let pack = Int(arguments[1]).flatMap(Pack.with) else { return nil }
            guard arguments.count == 4 else { return .buy(pack, quantity: 1) }
            guard arguments[2] == "--quantity", let quantity = Int(arguments[3]),
                (1...10).contains(quantity)
            else { return nil }
            return .buy(pack, quantity: quantity)
        default: return nil
        }
    }

    func start() {
        listener.on(.productsChanged) { _ in self.productsCame() }
        listener.on(.requestFailed) { _ in self.storeIsAway() }
        if case .spend(let credits) = verb { spend(credits) }
        manager.requestProducts()
    }

    private func productsCame() {
        switch verb {
        case .products: listProducts()
        case .balance:
            // Purchases from while the app did not run are delivered now.
            DispatchQueue.main.asyncAfter(deadline: .now() + 0.3) { self.showBalance() }
        case .buy(let pack, let quantity): buy(pack, quantity)
        case .spend: break
        }
    }

    private func storeIsAway() {
        try? FileHandle.standardError.write(contentsOf: Data("Network down?\n".utf8))
        if case .balance = verb { showBalance() }
        exit(69)
    }

    private func listProducts() {
        for product in manager.products.sorted(by: {
            $0.price.compare($1.price) == .orderedAscending
        }) {
            let price = PurchaseManager.price(of: product)
            print("\(product.localizedTitle)\t\(price)\t\(product.localizedDescription)")
        }
        exit(0)
    }

    private func showBalance() {
        print(wallet.balance)
        exit(0)
    }

    private func spend(_ credits: Int) {
        do {
            let isSpent = try wallet.spend(credits)
            print(wallet.balance)
            exit(isSpent ? 0 : 1)
        } catch {
            fail("Could not save: \(error.localizedDescription)")
        }
    }

    private func buy(_ pack: Pack, _ quantity: Int) {
        guard SKPaymentQueue.canMakePayments() else { fail("Store disabled") }
        guard manager.product(for: pack) != nil else { fail("The store does not sell this.") }
        listener.on(.purchaseFinished) { _ in self.showBalance() }
        listener.on(.purchaseFailed) { error in
            guard let error = error as? any Error else { exit(1) }
            self.fail(Sentences.failure(error))
        }
        manager.buy(pack, quantity: quantity)
    }

    private func fail(_ sentence: String) -> Never {
        try? FileHandle.standardError.write(contentsOf: Data("\(sentence)\n".utf8))
        exit(1)
    }
}
