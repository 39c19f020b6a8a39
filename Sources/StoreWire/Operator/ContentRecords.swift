// SPDX-License-Identifier: Apache-2.0

public import Commerce

/// Begins an upload of a version of a product's content, or continues one.
public struct BeginContentRequest: Hashable, Sendable, Codable {
    /// As in the package's `ContentInfo.plist`.
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

/// A version of a product's content, for operators.
public struct ContentRecord: Hashable, Sendable, Codable {
    public var bundleId: String
    public var productId: String
    public var version: String
    /// `processing`, `ready` or `removed`.
    public var state: String
    /// The length of the package in bytes.
    public var length: Int64
    public var sha256: String
    /// How many bytes the store has of an upload. Missing for any other version, and in
    /// lists.
    public var received: Int64?
    /// True if the version is ready and the store does not have its bytes, for example
    /// after a restore. An upload of the same package ends that. Missing otherwise.
    public var isMissing: Bool?
    /// When the upload began. All dates are wall time.
    public var createdDate: Timestamp
    public var readyDate: Timestamp?
    public var removedDate: Timestamp?

    public init(
        bundleId: String, productId: String, version: String, state: String, length: Int64,
        sha256: String, received: Int64? = nil, isMissing: Bool? = nil, createdDate: Timestamp,
        readyDate: Timestamp? = nil, removedDate: Timestamp? = nil
    ) {
        self.bundleId = bundleId
        self.productId = productId
        self.version = version
        self.state = state
        self.length = length
        self.sha256 = sha256
        self.received = received
        self.isMissing = isMissing
        self.createdDate = createdDate
        self.readyDate = readyDate
        self.removedDate = removedDate
    }
}

public struct ContentRecords: Hashable, Sendable, Codable {
    /// By product and version, as texts.
    public var content: [ContentRecord]
    /// Send it as `after` for the next page. Missing on the last one.
    public var next: String?

    public init(content: [ContentRecord], next: String? = nil) {
        self.content = content
        self.next = next
    }
}
