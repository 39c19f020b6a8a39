// SPDX-License-Identifier: Apache-2.0

/// The environment of a sale, as named in its signed data. Open: data that
/// others signed may contain a word that this build does not know.
public struct Environment: RawRepresentable, Hashable, Sendable, Codable,
    CustomStringConvertible
{
    /// The word in signed data and on the wire. Case-sensitive.
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    /// Customers are charged.
    public static let production = Environment(rawValue: "Production")
    /// Nobody is charged, and time can be moved.
    public static let sandbox = Environment(rawValue: "Sandbox")
    /// Signed by Xcode, without a store.
    public static let xcode = Environment(rawValue: "Xcode")
    /// Signed by tests on one machine, without a store.
    public static let localTesting = Environment(rawValue: "LocalTesting")

    /// All environments that this build knows.
    public static let known = [production, sandbox, xcode, localTesting]

    /// Nil if this build does not know the word.
    public init?(named word: String) {
        self.init(rawValue: word)
        guard Self.known.contains(self) else { return nil }
    }

    public var description: String { rawValue }
}
