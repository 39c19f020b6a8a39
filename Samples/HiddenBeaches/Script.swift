// SPDX-License-Identifier: Apache-2.0

import StoreKit

/// Performs one action for scripts, and prints what the screen then shows. Exit codes: 0
/// done, 1 not done, 64 wrong arguments, 69 the store cannot be reached.
final class Script {
    enum Verb {
        case show, next, fish, restore
        case buy(Item)
        /// Runs without a menu, for so many seconds or until it is stopped.
        case open(Double?)
    }

    static let usage = """
        usage: hidden-beaches                       a menu
               hidden-beaches open [SECONDS]        runs without a menu
               hidden-beaches buy lagoon|cove|pro|hotspot
               hidden-beaches show | next | fish | restore
        """

    private let verb: Verb
    private let store: BeachStore

    init(verb: Verb, store: BeachStore) {
        self.verb = verb
        self.store = store
    }

    static func verb(_ arguments: [String]) -> Verb? {
        switch (arguments.first, arguments.count) {
        case ("show", 1): return .show
        case ("next", 1): return .next
        case ("fish", 1): return .fish
        case ("restore", 1): return .restore
        case ("open", 1): return .open(nil)
        case ("open", 2): return seconds(arguments[1]).map { .open($0) }
        case ("buy", 2): return Item(rawValue: arguments[1]).map { .buy($0) }
        default: return nil
        }
    }

    private static func seconds(_ text: String) -> Double? {
        Double(text).flatMap { (0...86_400).contains($0) ? $0 : nil }
    }

    func start() {
        store.onNews = Screen.say
        if case .open(let seconds) = verb { return open(seconds) }
        store.onEnd = { self.paymentEnded($0) }
        store.loadProducts { error in
            if let error { self.end(error) } else { self.perform() }
        }
    }

    private func open(_ seconds: Double?) {
        store.onEnd = { error in error.flatMap(Sentences.failure).map(Screen.say) }
        store.loadProducts { error in error.flatMap(Sentences.failure).map(Screen.say) }
        if let seconds { leave(after: seconds) }
    }

    /// Later while the payment sheet is shown.
    private func leave(after seconds: Double) {
        DispatchQueue.main.asyncAfter(deadline: .now() + seconds) {
            guard Item.allCases.contains(where: self.store.isPaying) else { exit(0) }
            self.leave(after: 1)
        }
    }

    private func perform() {
        switch verb {
        case .show, .open: end(nil)
        case .next:
            Island.passLevel()
            end(nil)
        case .fish:
            print(Sentences.fishing())
            end(nil)
        case .restore: store.restore()
        case .buy(let item): store.buy(item) { self.fail($0, 1) }
        }
    }

    /// Another payment, of an earlier start, ends nothing.
    private func paymentEnded(_ error: (any Error)?) {
        if case .buy(let item) = verb, error == nil, store.isPaying(item) { return }
        end(error)
    }

    private func end(_ error: (any Error)?) {
        if let error {
            guard let sentence = Sentences.failure(error) else { exit(1) }
            fail(sentence, sentence == "Network down?" ? 69 : 1)
        }
        // The store's page comes first, because the process ends then.
        store.promotions.update(store.products) {
            self.store.promotions.describe(self.store.products) { lines in
                for line in Screen.lines(self.store) + lines { print(line) }
                exit(0)
            }
        }
    }

    private func fail(_ sentence: String, _ code: Int32) -> Never {
        try? FileHandle.standardError.write(contentsOf: Data("\(sentence)\n".utf8))
        exit(code)
    }
}
