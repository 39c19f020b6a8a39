// SPDX-License-Identifier: Apache-2.0

import StoreKit

/// The menu on a terminal. It does not read during a purchase, because the
/// terminal then belongs to the payment sheet.
final class Screen {
    private let manager: PurchaseManager
    private let wallet: Wallet
    private let listener = Listener()
    private var isBuying = false
    private var isReading = false
    private var saidNetworkDown = false

    init(manager: PurchaseManager, wallet: Wallet) {
        self.manager = manager
        self.wallet = wallet
    }

    func start() {
        listener.on(.productsChanged) { _ in
            self.saidNetworkDown = false
            self.show()
        }
        listener.on(.requestFailed) { _ in
            if !self.saidNetworkDown { print("\nNetwork down? Trying again.") }
            self.saidNetworkDown = true
            self.read()
        }
        listener.on(.purchaseSucceeded) { credits in
            print("\n\(credits as? Int ?? 0) credits were added.")
            self.ended()
        }
        listener.on(.purchaseFailed) { error in
            if let error = error as? any Error { print("\n\(Sentences.failure(error))") }
            self.ended()
        }
        manager.requestProducts()
    }

    private func ended() {
        isBuying = false
        show()
    }

    private func show() {
        print("\nMonkey Credits: \(wallet.balance)")
        for (number, pack) in Pack.all.enumerated() {
            print("  \(number + 1)  \(line(pack))")
        }
        if !SKPaymentQueue.canMakePayments() { print("  Store disabled") }
        print("  1 or 2, with a quantity of 1 to 10 (`1 3`) · s N spends · q quits")
        read()
    }

    private func line(_ pack: Pack) -> String {
        guard let product = manager.product(for: pack) else { return "…" }
        return "Buy \(product.localizedTitle), \(PurchaseManager.price(of: product)): "
            + product.localizedDescription
    }

    /// Reads a line on another thread, because the main thread must be free for
    /// callbacks from the store.
    private func read() {
        guard !isBuying, !isReading else { return }
        isReading = true
        DispatchQueue.global().async {
            let line = readLine()
            DispatchQueue.main.async {
                self.isReading = false
                self.obey(line)
            }
        }
    }

    private func obey(_ line: String?) {
        guard let line else { exit(0) }
        let words = line.split(separator: " ")
        switch words.first {
        case "q": exit(0)
        case "s": spend(words.dropFirst().first.flatMap { Int($0) })
        case "1", "2": buy(words)
        case nil: show()
        default:
            print("1, 2, s or q, please.")
            read()
        }
    }

    private func spend(_ credits: Int?) {
        guard let credits, credits > 0 else {
            print("Spend how many? `s 4`, for example.")
            return read()
        }
        do { if try !wallet.spend(credits) { print("There are only \(wallet.balance).") } } catch {
            print("Could not save: \(error.localizedDescription)")
        }
        show()
    }

    private func buy(_ words: [Substring]) {
        let quantity = words.count > 1 ? Int(words[1]) : 1
        guard let quantity, (1...10).contains(quantity) else {
            print("The quantity is 1 to 10.")
            return read()
        }
        guard manager.canBuy else {
            print(
                SKPaymentQueue.canMakePayments()
                    ? "The store has not answered yet." : "Store disabled")
            return read()
        }
        isBuying = true
        manager.buy(Pack.all[words.first == "1" ? 0 : 1], quantity: quantity)
    }
}

enum Sentences {
    /// Returns the text for an error. Network failures have a text of their
    /// own.
    static func failure(_ error: any Error) -> String {
        let underlying = (error as? SKError)?.userInfo[NSUnderlyingErrorKey]
        if error is URLError || underlying is URLError { return "Network down?" }
        if (error as? SKError)?.code == .paymentNotAllowed { return "Store disabled" }
        return "The purchase failed: \(error.localizedDescription)"
    }
}
