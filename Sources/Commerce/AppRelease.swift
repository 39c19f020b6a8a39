// SPDX-License-Identifier: Apache-2.0

/// Where a version of an app stands.
public enum AppVersionState: String, Sendable, CaseIterable {
    /// Made, and not in customers' hands yet.
    case waiting
    /// In customers' hands.
    case live
}

/// Whether an app has begun to sell. Its first product goes live with a
/// version of it; whatever follows needs none.
public struct AppRelease: Hashable, Sendable {
    /// Whether a product of it was on sale before.
    public var hasSold: Bool
    /// Products that came with a version that is live.
    public var cameWithLive: Set<ProductID>

    public init(hasSold: Bool, cameWithLive: Set<ProductID> = []) {
        self.hasSold = hasSold
        self.cameWithLive = cameWithLive
    }

    /// Of an app that sells.
    public static let sold = AppRelease(hasSold: true)

    /// Whether production may sell a product, once it is approved.
    public func admits(_ product: ProductID) -> Bool {
        hasSold || cameWithLive.contains(product)
    }

    /// Whether an app that sells these approved products has begun to sell.
    public func hasBegun(approved: Set<ProductID>) -> Bool {
        hasSold || !cameWithLive.isDisjoint(with: approved)
    }
}

/// A version's number as it may be given: `1`, `1.2`, `1.2.3`.
public func isAppVersion(_ text: String) -> Bool {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    return (1...4).contains(parts.count)
        && parts.allSatisfy { part in
            (1...6).contains(part.utf8.count)
                && part.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        }
}
