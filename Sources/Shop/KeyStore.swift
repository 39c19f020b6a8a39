// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Named secrets that belong to the store, not to a run.
public protocol KeyStore: Sendable {
    /// The bytes under a name; nil when nothing is stored there.
    func read(_ name: String) async throws -> [UInt8]?

    /// Stores bytes under a name not taken yet and answers what is stored
    /// there afterwards: the first writer wins, and every other one learns
    /// what it wrote.
    func store(_ bytes: [UInt8], as name: String) async throws -> [UInt8]

    /// Puts other bytes under a name that is taken, whole or not at all. For
    /// keys that are needed no more; who reads meanwhile gets either.
    func replace(_ bytes: [UInt8], as name: String) async throws

    /// Every name that is taken, sorted.
    func names() async throws -> [String]
}

/// Keys in memory, gone with the process. A class, because all who hold it
/// share what is stored.
public final class MemoryKeyStore: KeyStore {
    private let stored: Mutex<[String: [UInt8]]>

    public init(_ stored: [String: [UInt8]] = [:]) {
        self.stored = Mutex(stored)
    }

    public func read(_ name: String) async throws -> [UInt8]? {
        stored.withLock { $0[name] }
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

/// A key store that could not do what it was asked.
public struct KeyStoreFault: Error, Equatable, CustomStringConvertible {
    /// The key's name, never its bytes.
    public let name: String
    public let reason: String

    public init(_ name: String, _ reason: String) {
        self.name = name
        self.reason = reason
    }

    public static func == (left: Self, right: Self) -> Bool { left.name == right.name }

    public var description: String { "key \(name): \(reason)" }
}
