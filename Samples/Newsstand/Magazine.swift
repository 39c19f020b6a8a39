// SPDX-License-Identifier: Apache-2.0

import StoreKit

/// A magazine that readers subscribe to.
struct Magazine {
    /// The name for scripts.
    let name: String
    let productIdentifier: String

    static let all = [
        Magazine(name: "gazette", productIdentifier: "com.example.newsstand.gazette"),
        Magazine(name: "monthly", productIdentifier: "com.example.newsstand.monthly"),
    ]

    static func named(_ name: String) -> Magazine? { all.first { $0.name == name } }
}

/// The reader's subscription to a magazine, as the receipt has it.
enum Subscription: Equatable {
    case none
    case until(Date)
    case ended(Date)

    /// The receipt's own date counts too: a sandbox's clock may be ahead of this
    /// machine's, and a reader may set the machine's back.
    init(to magazine: Magazine, in receipt: Receipt?, now: Date = Date()) {
        let now = max(now, receipt?.created ?? now)
        let periods = (receipt?.purchases ?? []).filter { purchase in
            purchase.productIdentifier == magazine.productIdentifier
                && purchase.cancelled == nil
        }
        guard let end = periods.compactMap(\.expires).max() else {
            self = .none
            return
        }
        self = now < end ? .until(end) : .ended(end)
    }

    var words: String {
        switch self {
        case .none: return "not subscribed"
        case .until(let date): return "until \(Self.day(date))"
        case .ended(let date): return "ended on \(Self.day(date))"
        }
    }

    private static func day(_ date: Date) -> String {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "UTC")
        formatter.dateFormat = "yyyy-MM-dd"
        return formatter.string(from: date)
    }
}
