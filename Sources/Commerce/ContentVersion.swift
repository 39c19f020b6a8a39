// SPDX-License-Identifier: Apache-2.0

/// A version of a product's hosted content, as in `ContentInfo.plist`: integers,
/// joined by dots. Versions are compared as integers, so that `1.10` comes after
/// `1.9`, and missing integers count as 0. Different texts are different versions:
/// of those with the same integers, the longer text is newer.
public struct ContentVersion: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The longest version in bytes. Apple names no limit.
    public static let bytesMax = 32
    /// The most digits of an integer.
    public static let digitsMax = 9
    /// The rule in words.
    public static let rule =
        "integers of at most \(digitsMax) digits, joined by `.`, such as 1.2; at most "
        + "\(bytesMax) characters"

    /// The version as text.
    public let description: String
    private let parts: [Int]

    /// Nil if the text breaks the ``rule``.
    public init?(_ text: String) {
        guard text.utf8.count <= Self.bytesMax else { return nil }
        var parts: [Int] = []
        for part in text.split(separator: ".", omittingEmptySubsequences: false) {
            guard (1...Self.digitsMax).contains(part.utf8.count),
                part.utf8.allSatisfy({ (48...57).contains($0) }), let number = Int(part)
            else { return nil }
            parts.append(number)
        }
        self.parts = parts
        description = text
    }

    public static func < (left: ContentVersion, right: ContentVersion) -> Bool {
        for place in 0..<max(left.parts.count, right.parts.count) {
            let mine = place < left.parts.count ? left.parts[place] : 0
            let other = place < right.parts.count ? right.parts[place] : 0
            if mine != other { return mine < other }
        }
        let (mine, other) = (left.description.utf8, right.description.utf8)
        return mine.count == other.count
            ? mine.lexicographicallyPrecedes(other) : mine.count < other.count
    }
}
