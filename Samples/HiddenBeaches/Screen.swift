// SPDX-License-Identifier: Apache-2.0

import StoreKit

/// The game on a terminal. The store's news appear while it waits for a line.
final class Screen {
    private let store: BeachStore
    private lazy var keyboard = Keyboard { self.obey($0) }

    init(store: BeachStore) {
        self.store = store
    }

    static func lines(_ store: BeachStore) -> [String] {
        let title = "Hidden Beaches · level \(Island.level) · hot spots: \(Island.hotSpots)"
        return [title]
            + Item.allCases.enumerated().map { number, item in
                "  \(number + 1)  \(item.name): \(state(item, store))"
            }
    }

    private static func state(_ item: Item, _ store: BeachStore) -> String {
        if Island.isUnlocked(item) { return "yours" }
        guard let product = store.product(of: item) else { return "not sold here" }
        let formatter = NumberFormatter()
        formatter.numberStyle = .currency
        formatter.locale = product.priceLocale
        let price = formatter.string(from: product.price) ?? "\(product.price)"
        return product.subscriptionPeriod == nil ? price : "\(price) every month"
    }

    /// At once, also into a file or a pipe.
    static func say(_ sentence: String) {
        print(sentence)
        fflush(stdout)
    }

    func start() {
        store.onNews = { Self.say($0) }
        store.onPayment = { self.keyboard.leave() }
        store.onEnd = { self.ended($0) }
        store.loadProducts { self.ended($0) }
    }

    private func ended(_ error: (any Error)?) {
        if let sentence = error.flatMap(Sentences.failure) { Self.say(sentence) }
        show()
    }

    private func show() {
        let help = [
            "  1 to 4 buys · n next level · f fishes · p the store's page",
            "  r restores · u asks the store again · q quits",
        ]
        Self.say((Self.lines(store) + help).joined(separator: "\n"))
        // Otherwise the payment sheet has the terminal.
        if !Item.allCases.contains(where: store.isPaying) { keyboard.listen() }
    }

    private func obey(_ line: String?) {
        switch line?.trimmingCharacters(in: .whitespaces) {
        case nil, "q": exit(0)
        case "n":
            Island.passLevel()
            if Island.hasPassedLevel10 { store.promotions.update(store.products) }
            show()
        case "f":
            Self.say(Sentences.fishing())
            show()
        case "p":
            store.promotions.describe(store.products) { lines in
                for line in lines { Self.say(line) }
                self.show()
            }
        case "r": store.restore()
        case "u": store.loadProducts { self.ended($0) }
        case let text?:
            guard let number = Int(text), (1...Item.allCases.count).contains(number) else {
                return show()
            }
            store.buy(Item.allCases[number - 1]) { reason in
                Self.say(reason)
                self.show()
            }
        }
    }
}

enum Sentences {
    /// Returns the text for an error. Nil for what the player has cancelled.
    static func failure(_ error: any Error) -> String? {
        if (error as? SKError)?.code == .paymentCancelled { return nil }
        let underlying = (error as? SKError)?.userInfo[NSUnderlyingErrorKey]
        if error is URLError || underlying is URLError { return "Network down?" }
        return "It failed: \(error.localizedDescription)"
    }

    /// Fishes, and returns what came of it.
    static func fishing() -> String {
        Island.fish() ? "You catch a bream." : "Nothing bites here. Buy a hot spot."
    }
}
