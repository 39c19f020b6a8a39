// SPDX-License-Identifier: Apache-2.0

import StoreKit

/// What the app was called for.
enum Action {
    case list, restore
    /// The name of a filter.
    case show(String)
    case buy(String)

    static let usage = "usage: photo-filters list | show FILTER | buy FILTER | restore"

    init?(_ arguments: [String]) {
        switch (arguments.first, arguments.count) {
        case ("list", 1): self = .list
        case ("restore", 1): self = .restore
        case ("show", 2): self = .show(arguments[1])
        case ("buy", 2): self = .buy(arguments[1])
        default: return nil
        }
    }
}

/// Performs one action. Exit codes: 0 done, 1 not done, 64 wrong arguments, 69 the
/// store cannot be reached.
final class Script {
    private let action: Action
    private let darkroom: Darkroom

    init(action: Action, darkroom: Darkroom) {
        self.action = action
        self.darkroom = darkroom
    }

    func start() {
        // A preview needs no store.
        if case .show(let name) = action {
            guard let photo = filter(name).applied(to: Photo.lighthouse) else {
                fail("This filter is not on this device.", 1)
            }
            for line in photo { print(line) }
            exit(0)
        }
        darkroom.loadProducts { error in
            if let error { self.end(error) } else { self.perform() }
        }
    }

    private func perform() {
        darkroom.onEnd = { self.end($0) }
        switch action {
        case .list, .show: end(nil)
        case .restore: darkroom.restore()
        case .buy(let name):
            let filter = filter(name)
            guard SKPaymentQueue.canMakePayments() else { fail("Store disabled", 1) }
            if !darkroom.buy(filter) { fail("The store does not sell this.", 1) }
        }
    }

    private func filter(_ name: String) -> Filter {
        guard let filter = Filter.named(name) else { fail(Action.usage, 64) }
        return filter
    }

    private func end(_ error: (any Error)?) {
        if let error {
            if (error as? SKError)?.code == .paymentCancelled { exit(1) }
            let underlying = (error as? SKError)?.userInfo[NSUnderlyingErrorKey]
            if error is URLError || underlying is URLError { fail("Network down?", 69) }
            fail("It failed: \(error.localizedDescription)", 1)
        }
        for filter in Filter.all {
            let price = darkroom.price(of: filter) ?? "not sold here"
            print("\(filter.name)\t\(filter.isUnlocked ? "yours" : price)")
        }
        exit(0)
    }

    private func fail(_ sentence: String, _ code: Int32) -> Never {
        try? FileHandle.standardError.write(contentsOf: Data("\(sentence)\n".utf8))
        exit(code)
    }
}
