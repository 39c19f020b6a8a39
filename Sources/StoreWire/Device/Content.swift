// SPDX-License-Identifier: Apache-2.0

public import Commerce

/// The hosted content of a product: its newest version that can be downloaded.
public struct ContentDescription: Hashable, Sendable, Codable {
    /// Integers, joined by dots.
    public var version: String
    /// The length of the package in bytes.
    public var length: Int64
    /// The SHA-256 of the package, in 64 lower-case hexadecimal digits.
    public var sha256: String

    public init(version: String, length: Int64, sha256: String) {
        self.version = version
        self.length = length
        self.sha256 = sha256
    }
}

/// Requests a link to the content of a transaction's product.
public struct ContentRequest: Hashable, Sendable, Codable {
    /// The version whose download was begun. If it was removed, or is missing
    /// here, the link leads to the newest version.
    public var version: String?

    public init(version: String? = nil) {
        self.version = version
    }
}

/// A link to a package, which is valid for a short time.
public struct ContentLink: Hashable, Sendable, Codable {
    public var productId: String
    public var version: String
    /// The length of the package in bytes.
    public var length: Int64
    /// The SHA-256 of the package, in 64 lower-case hexadecimal digits.
    public var sha256: String
    /// Path and query at the same server, without a realm's prefix.
    public var url: String
    /// When the link ends, in wall time.
    public var expiresDate: Timestamp

    public init(
        productId: String, version: String, length: Int64, sha256: String, url: String,
        expiresDate: Timestamp
    ) {
        self.productId = productId
        self.version = version
        self.length = length
        self.sha256 = sha256
        self.url = url
        self.expiresDate = expiresDate
    }
}
