// SPDX-License-Identifier: Apache-2.0

import StoreKit

/// A pack of monkey credits that can be bought repeatedly.
struct Pack {
    let productIdentifier: String
    let credits: Int

    static let all = [
        Pack(productIdentifier: "com.example.monkeycredits.credits5", credits: 5),
        Pack(productIdentifier: "com.example.monkeycredits.credits10", credits: 10),
    ]

    static func with(credits: Int) -> Pack? { all.first { $0.credits == credits } }
    static func of(_ productIdentifier: String) -> Pack? {
        all.first { $0.productIdentifier == productIdentifier }
    }
}

extension Notification.Name {
    /// The products have arrived or changed.
    static let productsChanged = Notification.Name("MonkeyCreditsProductsChanged")
    /// The products request failed. `object` is the error.
    static let requestFailed = Notification.Name("MonkeyCreditsRequestFailed")
    /// Credits were bought and added to the wallet. `object` is how many.
    static let purchaseSucceeded = Notification.Name("MonkeyCreditsPurchaseSucceeded")
    /// A purchase that began while the app runs was finished. It will not be
    /// reported again.
    static let purchaseFinished = Notification.Name("MonkeyCreditsPurchaseFinished")
    /// A purchase failed. `object` is the error, or nil if the user cancelled.
    static let purchaseFailed = Notification.Name("MonkeyCreditsPurchaseFailed")
}

/// Listens to notifications as long as it exists.
final class Listener {
    private var tokens: [any NSObjectProtocol] = []

    func on(_ name: Notification.Name, _ body: @escaping (Any?) -> Void) {
        let token = NotificationCenter.default.addObserver(
            forName: name, object: nil, queue: nil
        ) { body($0.object) }
        tokens.append(token)
    }
}
