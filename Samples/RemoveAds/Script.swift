// SPDX-License-Identifier: Apache-2.0

import StoreKit

/// Performs one action for scripts, and prints what the screen then shows. Exit
/// codes: 0 done, 1 not done, 64 wrong arguments, 69 the store cannot be reached.
final class Script {
    static let verbs = ["show", "buy", "restore"]
    static let usage = """
        usage: remove-ads          a menu
               remove-ads show | buy | restore
        """

    private let verb: String
    private let store: AdStore

    init(verb: String, store: AdStore) {
        self.verb = verb
        self.store = store
    }

    func start() {
        store.loadProduct { error in
            if let error { self.end(error) } else { self.perform() }
        }
    }

    private func perform() {
        let center = NotificationCenter.default
        _ = center.addObserver(forName: .adsRemoved, object: nil, queue: nil) { _ in
            print("Thank you!")
            // The end of a restore follows.
            if self.verb != "restore" { self.end(nil) }
        }
        _ = center.addObserver(forName: .purchaseEnded, object: nil, queue: nil) { notification in
            self.end(notification.object as? any Error)
        }
        switch verb {
        case "buy":
            guard SKPaymentQueue.canMakePayments() else { fail("Store disabled", 1) }
            guard store.buy() else { fail("The store does not sell this.", 1) }
        case "restore": store.restore()
        default: end(nil)
        }
    }

    private func end(_ error: (any Error)?) -> Never {
        if let error {
            guard let sentence = Sentences.failure(error) else { exit(1) }
            fail(sentence, sentence == "Network down?" ? 69 : 1)
        }
        for line in Screen.lines(store) { print(line) }
        exit(verb == "restore" && store.showsAds ? 1 : 0)
    }

    private func fail(_ sentence: String, _ code: Int32) -> Never {
        try? FileHandle.standardError.write(contentsOf: Data("\(sentence)\n".utf8))
        exit(code)
    }
}
