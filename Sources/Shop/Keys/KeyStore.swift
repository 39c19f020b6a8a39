// SPDX-License-Identifier: Apache-2.0

public import SignedData
import Synchronization

/// Named secrets that belong to the store and outlive the process.
public protocol KeyStore: Sendable {
    /// Returns the bytes stored under a name, or nil.
    func read(_ name: String) async throws -> [UInt8]?

    /// Stores bytes under a name that is free, and returns what is stored there
    /// afterwards. The first writer wins, and every other one receives the
    /// first one's bytes.
    func store(_ bytes: [UInt8], as name: String) async throws -> [UInt8]

    /// Replaces the bytes of an existing name atomically. For removing keys
    /// that are no longer needed. A concurrent reader gets the old or the new
    /// bytes.
    func replace(_ bytes: [UInt8], as name: String) async throws

    /// All names, sorted.
    func names() async throws -> [String]

    /// Returns the authority of these files, by name. A store that has them in
    /// memory anyway may return one that it has read before.
    func authority(of files: [String: [UInt8]]) throws -> CertificateAuthority
}

extension KeyStore {
    public func authority(of files: [String: [UInt8]]) throws -> CertificateAuthority {
        try CertificateAuthority(files: files)
    }
}

/// Keys in memory, which end with the process. A class, because all its users
/// share the keys.
public final class MemoryKeyStore: KeyStore {
    /// Reading an authority takes longer than opening a store in memory, and a
    /// test process opens thousands with the same keys.
    private static let authoritiesMax = 8

    private let stored: Mutex<[String: [UInt8]]>
    private let read = Mutex<[(files: [String: [UInt8]], authority: CertificateAuthority)]>([])

    public init(_ stored: [String: [UInt8]] = [:]) {
        self.stored = Mutex(stored)
    }

    public func read(_ name: String) async throws -> [UInt8]? {
        stored.withLock { $0[name] }
    }

    public func authority(of files: [String: [UInt8]]) throws -> CertificateAuthority {
        let known = read.withLock { $0.first { $0.files == files }?.authority }
        if let known { return known }
        let authority = try CertificateAuthority(files: files)
        read.withLock { read in
            read.append((files, authority))
            if read.count > Self.authoritiesMax { read.removeFirst() }
        }
        return authority
    }

    public func names() async throws -> [String] {
        stored.withLock { $0.keys.sorted() }
    }

    public func replace(_ bytes: [UInt8], as name: String) async throws {
        stored.withLock { $0[name] = bytes }
    }

    public func store(_ bytes: [UInt8], as name: String) async throws -> [UInt8] {
        stored.withLock { stored in
            let winner = stored[name] ?? bytes
            stored[name] = winner
            return winner
        }
    }
}

/// A key store could not do what it was asked to do.
public struct KeyStoreFault: Error, Equatable, CustomStringConvertible {
    /// The name of the key. Never its bytes.
    public let name: String
    public let reason: String

    public init(_ name: String, _ reason: String) {
        self.name = name
        self.reason = reason
    }

    public static func == (left: Self, right: Self) -> Bool { left.name == right.name }

    public var description: String { "key \(name): \(reason)" }
}
