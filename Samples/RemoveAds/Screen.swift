// SPDX-License-Identifier: Apache-2.0

import StoreKit

/// The app on a terminal: a text, an ad until it is removed, and a sheet of actions.
final class Screen {
    private let store: AdStore

    init(store: AdStore) {
        self.store = store
    }

    /// The page, the ad, and the row that sells its removal. The last two are hidden
    /// once the ads are removed.
    static func lines(_ store: AdStore) -> [String] {
        let page = ["Today: a walk along the river."]
        guard store.showsAds else { return page }
        return page + ["[ad] Shoes, shoes, shoes!", "Remove the ads: \(store.price ?? "…")"]
    }

    func start() {
        let center = NotificationCenter.default
        _ = center.addObserver(forName: .adsRemoved, object: nil, queue: nil) { _ in
            print("\nThank you! The ads are gone.")
            self.show()
        }
        _ = center.addObserver(forName: .purchaseEnded, object: nil, queue: nil) { notification in
            let error = notification.object as? any Error
            if let sentence = error.flatMap(Sentences.failure) { print("\n\(sentence)") }
            self.show()
        }
        store.loadProduct { error in
            if let sentence = error.flatMap(Sentences.failure) { print("\n\(sentence)") }
            self.show()
        }
    }

    private func show() {
        print("")
        for line in Self.lines(store) { print(line) }
        print(store.showsAds ? "  b buys · r restores · q quits" : "  q quits")
        // On another thread, because the main thread must be free for callbacks.
        DispatchQueue.global().async {
            let line = readLine()
            DispatchQueue.main.async { self.obey(line) }
        }
    }

    /// Reads no more while the payment sheet has the terminal.
    private func obey(_ line: String?) {
        switch line?.trimmingCharacters(in: .whitespaces) {
        case nil, "q": exit(0)
        case "b" where store.showsAds && SKPaymentQueue.canMakePayments():
            if !store.buy() { show() }
        case "r" where store.showsAds: store.restore()
        default: show()
        }
    }
}
