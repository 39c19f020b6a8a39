// SPDX-License-Identifier: Apache-2.0

import Foundation
import SignedData

/// The store's certificate authorities, made once and kept by the key store.
///
/// All of one authority's files are stored as **one** key, so that two
/// processes that start together cannot mix theirs; the root certificate,
/// which is no secret, is stored beside it for people to find. An actor, for
/// what it has made; making keys takes a second, in a task of its own, so that
/// no event loop stands still meanwhile.
actor Authorities {
    private let keys: any KeyStore
    private var made: [AuthorityKind: CertificateAuthority] = [:]

    init(keys: any KeyStore) {
        self.keys = keys
    }

    /// The authority, made now when there is none.
    func authority(_ kind: AuthorityKind) async throws -> CertificateAuthority {
        if let authority = try await existing(kind) { return authority }
        // Whoever is second meanwhile makes some in vain: the first are stored.
        let fresh = try await Task.detached { try CertificateAuthority.make(kind) }.value
        let texts = fresh.files.mapValues { String(decoding: $0, as: UTF8.self) }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted]
        let stored = try await keys.store([UInt8](try encoder.encode(texts)), as: name(kind))
        return try await keep(stored, kind)
    }

    /// The authority, or nil when it was never made.
    func existing(_ kind: AuthorityKind) async throws -> CertificateAuthority? {
        if let authority = made[kind] { return authority }
        guard let stored = try await keys.read(name(kind)) else { return nil }
        return try await keep(stored, kind)
    }

    private func keep(_ stored: [UInt8], _ kind: AuthorityKind) async throws
        -> CertificateAuthority
    {
        guard let texts = try? JSONDecoder().decode([String: String].self, from: Data(stored))
        else { throw KeyStoreFault(name(kind), "is damaged: not a JSON object of PEM texts") }
        let authority = try CertificateAuthority(files: texts.mapValues { Array($0.utf8) })
        _ = try await keys.store(Array(authority.rootPEM.utf8), as: "\(kind.rawValue)/root.pem")
        made[kind] = authority
        return authority
    }

    private func name(_ kind: AuthorityKind) -> String { "\(kind.rawValue)/authority.json" }
}
