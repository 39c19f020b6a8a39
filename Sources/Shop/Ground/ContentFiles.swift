// SPDX-License-Identifier: Apache-2.0

public import Commerce

/// Where the packages of hosted content are kept, by their SHA-256 in lower-case
/// hexadecimal digits. Several processes, realms and stores may share one place.
///
/// A package has its name only after all its bytes are checked and durable. An
/// upload has a name of its own until then.
public protocol ContentFiles: Sendable {
    /// Returns the length of a package in bytes. Nil if it is not there.
    func length(of sha256: String) async throws -> Int64?

    /// Returns whether a package is there with this length and its own digest. Reads all
    /// of it.
    func isWhole(_ sha256: String, length: Int64) async throws -> Bool

    /// Takes the name from what is there under a package's name, so that an upload can
    /// have it. A download that is under way goes on.
    func setAside(_ sha256: String) async throws

    /// Opens a package for reading. Nil if it is not there.
    func open(_ sha256: String) async throws -> (any ContentReader)?

    /// Returns how many bytes of an upload are there.
    func received(_ upload: ContentUpload) async throws -> Int64

    /// Adds a piece to an upload, if the upload ends at `offset`. The bytes are
    /// durable when this returns.
    func append(
        _ bytes: [UInt8], at offset: Int64, to upload: ContentUpload
    ) async throws -> ContentAppending

    /// Makes an upload a package: checks its length and digest, calls `check`
    /// with its path, and gives it its name. Bytes with another digest, or that
    /// `check` refuses with a ``Refusal``, are discarded. Rethrows what `check`
    /// throws.
    func keep(
        _ upload: ContentUpload, _ check: @escaping @Sendable (_ path: String) throws -> Void
    ) async throws -> ContentKeeping

    /// Deletes what there is of an upload. An upload that is being written at
    /// this moment stays, and is deleted by ``sweep(before:)``.
    func discard(_ upload: ContentUpload) async throws

    /// Deletes uploads of any realm whose last piece came before a date. Returns
    /// how many.
    func sweep(before: Timestamp) async throws -> Int
}

/// A package that is read. Closed when nothing refers to it any more.
public protocol ContentReader: Sendable {
    /// The length in bytes.
    var length: Int64 { get }

    /// Returns up to `count` bytes. Empty at the end.
    func read(at offset: Int64, count: Int) async throws -> [UInt8]
}

/// An upload that has begun.
public struct ContentUpload: Hashable, Sendable {
    /// Digits, letters and dots. Unique in a shared place.
    public let name: String
    /// What the package must be.
    public let sha256: String
    public let length: Int64

    public init(name: String, sha256: String, length: Int64) {
        self.name = name
        self.sha256 = sha256
        self.length = length
    }
}

/// What became of a piece.
public enum ContentAppending: Hashable, Sendable {
    /// So many bytes of the upload are there now.
    case appended(received: Int64)
    /// Nothing was written: the upload ends elsewhere.
    case elsewhere(received: Int64)
    /// Nothing was written: the piece ends after the announced length.
    case beyond
    /// Nothing was written: another call writes or checks this upload.
    case busy
}

/// What became of an upload.
public enum ContentKeeping: Hashable, Sendable {
    /// It is a package now, or was one before.
    case kept
    /// Bytes are missing.
    case incomplete(received: Int64)
    /// The bytes have another digest. They were discarded.
    case corrupt
    /// Another call writes or checks this upload.
    case busy
}
