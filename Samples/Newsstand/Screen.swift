// SPDX-License-Identifier: Apache-2.0

import StoreKit

/// The menu on a terminal. It does not read while something is under way, because
/// the terminal then belongs to the payment sheet.
final class Screen {
    private let kiosk: Kiosk
    private let deliveries: Deliveries
    private var isBusy = false
    private var isReading = false

    init(kiosk: Kiosk, deliveries: Deliveries) {
        self.kiosk = kiosk
        self.deliveries = deliveries
    }

    func start() {
        deliveries.onPayment = { self.ended($0) }
        deliveries.onRestore = { self.ended($0) }
        // A renewal, or what another device has bought.
        deliveries.onDelivery = { if !self.isBusy { self.show() } }
        isBusy = true
        kiosk.loadProducts { self.ended($0) }
    }

    private func ended(_ error: (any Error)?) {
        isBusy = false
        if let error, !Sentences.isCancelled(error) { print("\n\(Sentences.failure(error))") }
        show()
    }

    private func show() {
        print("\nNewsstand")
        let receipt = Receipt.current()
        for (number, magazine) in Magazine.all.enumerated() {
            let subscription = Subscription(to: magazine, in: receipt)
            print("  \(number + 1)  \(line(magazine)) — \(subscription.words)")
        }
        if !SKPaymentQueue.canMakePayments() { print("  Store disabled") }
        print("  1 or 2 subscribes · c redeems a code · p shows a higher price")
        print("  r restores · u updates · q quits")
        read()
    }

    private func line(_ magazine: Magazine) -> String {
        guard let product = kiosk.product(of: magazine) else { return magazine.name }
        return "\(product.localizedTitle), \(Kiosk.price(of: product)): "
            + product.localizedDescription
    }

    /// Reads a line on another thread, because the main thread must be free for
    /// callbacks from the store.
    private func read() {
        guard !isBusy, !isReading else { return }
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
        isBusy = true
        switch line.trimmingCharacters(in: .whitespaces) {
        case "q": exit(0)
        case "1": subscribe(to: Magazine.all[0])
        case "2": subscribe(to: Magazine.all[1])
        case "r": kiosk.restore()
        case "c": kiosk.redeem()
        case "p":
            kiosk.showPriceConsent()
            kiosk.refreshReceipt { self.ended($0) }
        case "u":
            kiosk.loadProducts { error in
                if error != nil { self.ended(error) } else { self.kiosk.refreshReceipt(self.ended) }
            }
        default: ended(nil)
        }
    }

    private func subscribe(to magazine: Magazine) {
        guard SKPaymentQueue.canMakePayments() else {
            print("Store disabled")
            return ended(nil)
        }
        guard kiosk.subscribe(to: magazine) else {
            print("The store has not answered yet: u asks it again.")
            return ended(nil)
        }
    }
}
