// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import SignedData
import Synchronization

/// The store's certificate authorities, made once and stored in the key store.
///
/// All files of one authority are stored as **one** key, so that two processes
/// that start together cannot mix them. The root certificate, which is not
/// secret, is stored beside it for operators. A rotation stores the next key:
/// `sandbox/authority.2.json` and so on. The process that stores a name first
/// has rotated, and every process checks regularly for the next name. The keys
/// of rotated leaves are then removed from the stored files. An actor, because
/// it caches authorities. Generating keys takes a second, so it runs in a
/// separate task and does not block an event loop.
actor Authorities {
    /// For how many seconds a process may continue to sign with an authority
    /// that another process has rotated.
    static let lookSeconds: Int64 = 5

    private let keys: any KeyStore
    private let statusURLs: [AuthorityKind: String]
    private var made: [AuthorityKind: LiveAuthority] = [:]
    private let lookedAt = Mutex<Timestamp?>(nil)

    /// `statusURLs` are written into new certificates.
    init(keys: any KeyStore, statusURLs: [AuthorityKind: String] = [:]) {
        self.keys = keys
        self.statusURLs = statusURLs
    }

    /// Returns the authority, and makes it if there is none.
    func authority(_ kind: AuthorityKind) async throws -> CertificateAuthority {
        try await live(kind).current
    }

    /// Returns the authority of a kind of realm, which always signs with its
    /// newest generation.
    func live(_ kind: AuthorityKind) async throws -> LiveAuthority {
        if let live = try await known(kind) { return live }
        // If another process is first, its authority is stored and this one is
        // discarded.
        let statusURL = statusURLs[kind]
        let fresh = try await Task.detached {
            try CertificateAuthority.make(kind, statusURL: statusURL)
        }.value
        _ = try await keys.store(try Self.encode(fresh.files), as: Self.name(kind, 1))
        guard let live = try await known(kind) else {
            throw KeyStoreFault(Self.name(kind, 1), "vanished while it was stored")
        }
        return live
    }

    /// Returns the authority. Nil if it was never made.
    func existing(_ kind: AuthorityKind) async throws -> CertificateAuthority? {
        try await known(kind)?.current
    }

    /// Returns every generation of an authority, oldest first. Empty if it was
    /// never made.
    func generations(_ kind: AuthorityKind) async throws -> [FormerAuthority] {
        guard let live = try await known(kind) else { return [] }
        try await look(kind, live)
        return live.all
    }

    /// Makes new leaves, and a new intermediate if `withIntermediate` is set.
    /// `rootKey`: the root's key as PEM, if it is kept offline; it is used and
    /// not stored. `announce` is called with the number and the contents of the
    /// generation before it is stored. Returns nil if another process has
    /// rotated at the same moment.
    func rotate(
        _ kind: AuthorityKind, withIntermediate: Bool, rootKey: String?,
        announce: @Sendable (_ generation: Int, CertificateAuthority) async throws -> Void
    ) async throws -> CertificateAuthority? {
        guard let live = try await known(kind) else { return nil }
        try await look(kind, live)
        let old = live.current
        var files = old.files
        let keepsRootKey = files[Self.rootKeyFile] != nil
        if let rootKey { files[Self.rootKeyFile] = Array(rootKey.utf8) }
        let whole = rootKey == nil ? old : try CertificateAuthority(files: files)
        let (next, statusURL) = (live.all.count + 1, statusURLs[kind])
        var fresh = try await Task.detached {
            try whole.rotated(kind, withIntermediate: withIntermediate, statusURL: statusURL).files
        }.value
        if !keepsRootKey { fresh[Self.rootKeyFile] = nil }
        let name = Self.name(kind, next)
        let bytes = try Self.encode(fresh)
        try await announce(next, try Self.decode(bytes, name))
        let winner = try await keys.store(bytes, as: name)
        guard winner == bytes else {
            try await look(kind, live)
            return nil
        }
        let stored = try Self.decode(winner, name)
        if live.all.count < next { live.add(stored) }
        try await forgetKeys(kind, before: next)
        return stored
    }

    /// Checks for rotations by other processes, at most once in
    /// ``lookSeconds``. If the check fails, nothing changes.
    nonisolated func lookIfDue(_ wall: Timestamp, _ log: ShopLog) async {
        let isDue = lookedAt.withLock { last in
            if let last, last <= wall, wall < last.adding(seconds: Self.lookSeconds) {
                return false
            }
            defer { last = wall }
            return last != nil
        }
        guard isDue else { return }
        do { try await look() } catch {
            log(.warning, "certificates could not be looked for: \(error)")
        }
    }

    private func look() async throws {
        for (kind, live) in made { try await look(kind, live) }
    }

    private func look(_ kind: AuthorityKind, _ live: LiveAuthority) async throws {
        let count = live.all.count
        let stored = try await stored(kind, from: count + 1)
        guard let last = stored.last else { return }
        let former = try stored.dropLast().map { try FormerAuthority(files: $0.files) }
        let next = try CertificateAuthority(files: last.files)
        // Another task may have added it in the meantime.
        if live.all.count == count { live.add(next, after: former) }
    }

    /// Returns the stored files of an authority's generations, from `first` on.
    private func stored(
        _ kind: AuthorityKind, from first: Int
    ) async throws -> [(name: String, files: [String: [UInt8]])] {
        var generations: [(name: String, files: [String: [UInt8]])] = []
        while true {
            let name = Self.name(kind, first + generations.count)
            guard let bytes = try await keys.read(name) else { return generations }
            generations.append((name, try Self.files(bytes, name)))
        }
    }

    /// Removes the private keys that are no longer used from generations before
    /// this one, which is already stored. Also cleans up after a process that
    /// died.
    private func forgetKeys(_ kind: AuthorityKind, before generation: Int) async throws {
        for (name, files) in try await stored(kind, from: 1).prefix(generation - 1) {
            guard let kept = FormerAuthority.files(of: files) else { continue }
            try await keys.replace(try Self.encode(kept), as: name)
        }
    }

    private func known(_ kind: AuthorityKind) async throws -> LiveAuthority? {
        if let live = made[kind] { return live }
        let stored = try await stored(kind, from: 1)
        guard let last = stored.last else { return nil }
        let former = try stored.dropLast().map { try FormerAuthority(files: $0.files) }
        let current = try keys.authority(of: last.files)
        _ = try await keys.store(Array(current.rootPEM.utf8), as: "\(kind.rawValue)/root.pem")
        let live = made[kind] ?? LiveAuthority(current, former: former)
        if made[kind] == nil {
            made[kind] = live
            try await forgetKeys(kind, before: stored.count)
        }
        return live
    }

    private static let rootKeyFile = "root.key.pem"

    private static func encode(_ files: [String: [UInt8]]) throws -> [UInt8] {
        let texts = files.mapValues { String(decoding: $0, as: UTF8.self) }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted]
        return [UInt8](try encoder.encode(texts))
    }

    private static func decode(_ stored: [UInt8], _ name: String) throws -> CertificateAuthority {
        try CertificateAuthority(files: files(stored, name))
    }

    private static func files(_ stored: [UInt8], _ name: String) throws -> [String: [UInt8]] {
        guard let texts = try? JSONDecoder().decode([String: String].self, from: Data(stored))
        else { throw KeyStoreFault(name, "is damaged: not a JSON object of PEM texts") }
        return texts.mapValues { Array($0.utf8) }
    }

    /// Whether a key of a backup that has the name of an authority contains
    /// matching certificates and keys. A rotated generation, for which `keys`
    /// contains the next one, may lack the keys of its leaves.
    static func isSound(_ name: String, in keys: [String: [UInt8]]) -> Bool {
        let kind = AuthorityKind.allCases.first { name.hasPrefix("\($0.rawValue)/authority.") }
        guard let kind, let bytes = keys[name] else { return true }
        if (try? decode(bytes, name)) != nil { return true }
        let generation = (1...keys.count).first { Self.name(kind, $0) == name }
        guard let generation, keys[Self.name(kind, generation + 1)] != nil else { return false }
        return (try? FormerAuthority(files: files(bytes, name))) != nil
    }

    private static func name(_ kind: AuthorityKind, _ generation: Int) -> String {
        generation == 1
            ? "\(kind.rawValue)/authority.json"
            : "\(kind.rawValue)/authority.\(generation).json"
    }
}

/// One authority with its rotations. A class, because all realms of a kind sign
/// with the newest generation.
final class LiveAuthority: Sendable {
    private let state: Mutex<(current: CertificateAuthority, former: [FormerAuthority])>

    init(_ authority: CertificateAuthority, former: [FormerAuthority]) {
        state = Mutex((authority, former))
    }

    /// The generation that signs at present.
    var current: CertificateAuthority { state.withLock { $0.current } }

    /// All generations, oldest first.
    var all: [FormerAuthority] {
        state.withLock { $0.former + [FormerAuthority($0.current)] }
    }

    /// `between`: generations that this process has never used for signing.
    func add(_ next: CertificateAuthority, after between: [FormerAuthority] = []) {
        state.withLock { state in
            state.former += [FormerAuthority(state.current)] + between
            state.current = next
        }
    }
}
