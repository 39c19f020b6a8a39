// SPDX-License-Identifier: Apache-2.0

/// The state of a version of an app.
public enum AppVersionState: String, Sendable, CaseIterable {
    /// Created, and not available to customers yet.
    case waiting
    /// Available to customers.
    case live
}

/// Whether an app has begun to sell. Its first product goes live together with
/// a version of the app. Later products do not need a version.
public struct AppRelease: Hashable, Sendable {
    /// Whether a product of the app has been on sale before.
    public var hasSold: Bool
    /// Products that were submitted with a version that is live.
    public var cameWithLive: Set<ProductID>

    public init(hasSold: Bool, cameWithLive: Set<ProductID> = []) {
        self.hasSold = hasSold
        self.cameWithLive = cameWithLive
    }

    /// An app that already sells.
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

/// Whether text has the form of a version number: `1`, `1.2`, `1.2.3`.
public func isAppVersion(_ text: String) -> Bool {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    return (1...4).contains(parts.count)
        && parts.allSatisfy { part in
            (1...6).contains(part.utf8.count)
                && part.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        }
}
