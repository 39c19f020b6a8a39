// SPDX-License-Identifier: Apache-2.0

import Crypto
import X509
import _CryptoExtras

/// The names of an authority's files. They are part of a format and never
/// change.
enum AuthorityFile: String {
    case root = "root.pem"
    case rootKey = "root.key.pem"
    case intermediate = "intermediate.pem"
    case intermediateKey = "intermediate.key.pem"
    case transactions = "transactions.pem"
    case transactionsKey = "transactions.key.pem"
    case receipts = "receipts.pem"
    case receiptsKey = "receipts.key.pem"
    case responder = "responder.pem"
    case responderKey = "responder.key.pem"

    /// The certificates, in this order: root, intermediate, leaf for JWS, leaf
    /// for receipts, responder.
    static let certificates: [AuthorityFile] = [
        .root, .intermediate, .transactions, .receipts, .responder,
    ]

    /// Parses this file of `files`.
    func read<Value>(
        from files: [String: [UInt8]], as parse: (String) throws -> Value
    ) throws(AuthorityFault) -> Value {
        guard let bytes = files[rawValue] else {
            throw fault("is missing; restore the whole set of keys from a backup")
        }
        do {
            return try parse(String(decoding: bytes, as: UTF8.self))
        } catch {
            throw fault("is not the PEM it should be; restore it from a backup")
        }
    }

    func fault(_ message: String) -> AuthorityFault {
        AuthorityFault(file: rawValue, message: message)
    }
}

/// The private keys of an authority.
///
/// `@unchecked`: see ``SharedKey``.
struct AuthorityKeys: @unchecked Sendable {
    /// Nil if it is kept offline. It is needed only to rotate the intermediate.
    let root: P384.Signing.PrivateKey?
    let intermediate: P384.Signing.PrivateKey
    let transactions: P256.Signing.PrivateKey
    let receipts: _RSA.Signing.PrivateKey
    /// Signs status answers about the intermediate on behalf of the root.
    let responder: P256.Signing.PrivateKey

    /// Generates all keys.
    init() throws {
        try self.init(
            root: P384.Signing.PrivateKey(), intermediate: P384.Signing.PrivateKey(),
            responder: P256.Signing.PrivateKey())
    }

    /// Generates keys for the leaves, under the given keys.
    init(
        root: P384.Signing.PrivateKey?, intermediate: P384.Signing.PrivateKey,
        responder: P256.Signing.PrivateKey
    ) throws {
        self.root = root
        self.intermediate = intermediate
        self.responder = responder
        transactions = P256.Signing.PrivateKey()
        receipts = try _RSA.Signing.PrivateKey(keySize: .bits2048)
    }

    init(files: [String: [UInt8]]) throws(AuthorityFault) {
        root =
            files[AuthorityFile.rootKey.rawValue] == nil
            ? nil
            : try AuthorityFile.rootKey.read(from: files) {
                try P384.Signing.PrivateKey(pemRepresentation: $0)
            }
        intermediate = try AuthorityFile.intermediateKey.read(from: files) {
            try P384.Signing.PrivateKey(pemRepresentation: $0)
        }
        transactions = try AuthorityFile.transactionsKey.read(from: files) {
            try P256.Signing.PrivateKey(pemRepresentation: $0)
        }
        receipts = try AuthorityFile.receiptsKey.read(from: files) {
            try _RSA.Signing.PrivateKey(pemRepresentation: $0)
        }
        responder = try AuthorityFile.responderKey.read(from: files) {
            try P256.Signing.PrivateKey(pemRepresentation: $0)
        }
    }

    /// Returns the keys as PKCS#8 PEM, by file name.
    func files() throws -> [String: [UInt8]] {
        var files: [String: [UInt8]] = [
            AuthorityFile.intermediateKey.rawValue: Array(intermediate.pemRepresentation.utf8),
            AuthorityFile.transactionsKey.rawValue: Array(transactions.pemRepresentation.utf8),
            AuthorityFile.receiptsKey.rawValue: Array(receipts.pkcs8PEMRepresentation.utf8),
            AuthorityFile.responderKey.rawValue: Array(responder.pemRepresentation.utf8),
        ]
        files[AuthorityFile.rootKey.rawValue] = root.map { Array($0.pemRepresentation.utf8) }
        return files
    }

    /// Throws unless these are the keys of the certificates, given in the order
    /// root, intermediate, leaf for JWS, leaf for receipts, responder.
    func match(_ certificates: [Certificate]) throws(AuthorityFault) {
        let pairs: [(AuthorityFile, Certificate.PublicKey)] = [
            (
                .rootKey,
                root.map { Certificate.PublicKey($0.publicKey) } ?? certificates[0].publicKey
            ),
            (.intermediateKey, Certificate.PublicKey(intermediate.publicKey)),
            (.transactionsKey, Certificate.PublicKey(transactions.publicKey)),
            (.receiptsKey, Certificate.PublicKey(receipts.publicKey)),
            (.responderKey, Certificate.PublicKey(responder.publicKey)),
        ]
        for ((file, key), certificate) in zip(pairs, certificates)
        where key != certificate.publicKey {
            throw file.fault(
                "is not the key of its certificate; restore both from the same backup")
        }
    }
}
