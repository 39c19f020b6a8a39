// SPDX-License-Identifier: Apache-2.0

import StoreKit

/// What the player has reached and bought, in the game's settings. The subscription is
/// not saved: the receipt has it.
enum Island {
    private static let defaults = UserDefaults.standard
    private static let levelKey = "level"
    private static let fishingKey = "fishing"
    /// More transactions than are ever unfinished at once.
    private static let creditedMax = 100

    static var level: Int { max(1, defaults.integer(forKey: levelKey)) }
    static var hasPassedLevel10: Bool { level > 10 }

    static func passLevel() {
        defaults.set(level + 1, forKey: levelKey)
        defaults.synchronize()
    }

    /// Whether it need not be bought now.
    static func isUnlocked(_ item: Item) -> Bool {
        switch item {
        case .lagoon, .cove: return defaults.bool(forKey: item.productIdentifier)
        case .pro: return Receipt.current()?.isActive(item.productIdentifier) ?? false
        case .hotspot: return false
        }
    }

    /// Returns whether it is on the disk: on Linux, defaults are only after
    /// `synchronize()`. A hot spot is counted once for each transaction.
    static func unlock(_ item: Item, by transaction: SKPaymentTransaction) -> Bool {
        switch item {
        case .lagoon, .cove: defaults.set(true, forKey: item.productIdentifier)
        // The receipt is on the device before a transaction is reported.
        case .pro: return true
        case .hotspot: credit(transaction.transactionIdentifier ?? "")
        }
        return defaults.synchronize()
    }

    static func lock(_ item: Item) {
        defaults.removeObject(forKey: item.productIdentifier)
        defaults.synchronize()
    }
}

/// The hot spots. Their number and the transactions that count are one value, so that
/// they are saved together.
extension Island {
    private struct Fishing: Codable {
        var spots = 0
        var credited: [String] = []
    }

    static var hotSpots: Int { fishing.spots }

    /// Uses up one. Returns false without one.
    static func fish() -> Bool {
        var fishing = fishing
        guard fishing.spots > 0 else { return false }
        fishing.spots -= 1
        save(fishing)
        return defaults.synchronize()
    }

    private static func credit(_ transaction: String) {
        var fishing = fishing
        guard !fishing.credited.contains(transaction) else { return }
        fishing.spots += 1
        fishing.credited = (fishing.credited + [transaction]).suffix(creditedMax)
        save(fishing)
    }

    private static var fishing: Fishing {
        let data = defaults.data(forKey: fishingKey)
        return data.flatMap { try? JSONDecoder().decode(Fishing.self, from: $0) } ?? Fishing()
    }

    private static func save(_ fishing: Fishing) {
        defaults.set(try? JSONEncoder().encode(fishing), forKey: fishingKey)
    }
}
