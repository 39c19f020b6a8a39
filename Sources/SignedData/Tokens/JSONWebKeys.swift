// SPDX-License-Identifier: Apache-2.0

import Crypto
import StrictJSON
import _CryptoExtras

/// Public keys by their ids, from a JSON Web Key Set (RFC 7517). It has the keys for
/// ES256 and RS256. Keys of other kinds, for encryption, or without an id are left out.
public struct JSONWebKeys: Sendable {
    enum Key: Sendable {
        case es256(SharedKey<P256.Signing.PublicKey>)
        case rs256(SharedKey<_RSA.Signing.PublicKey>)

        var algorithm: String {
            switch self {
            case .es256: "ES256"
            case .rs256: "RS256"
            }
        }

        /// The key itself, to compare it.
        fileprivate var bytes: [UInt8] {
            switch self {
            case .es256(let key): [UInt8](key.value.rawRepresentation)
            case .rs256(let key): [UInt8](key.value.derRepresentation)
            }
        }
    }

    /// Bytes of a set.
    public static let bytesMax = 256 * 1024
    /// The most keys in a set.
    public static let keysMax = 100
    /// Bits of an RSA key.
    static let modulusBytes = 256...1024

    private let keys: [String: Key]

    /// Reads a set that somebody wrote for this program. Throws `malformed` if it is none, if
    /// it has no key that can be used, if an id comes twice, or if a key for ES256 or RS256 is
    /// broken or weak.
    public init(_ bytes: [UInt8]) throws(VerificationFailure) {
        var keys: [String: Key] = [:]
        for field in try Self.fields(bytes) {
            guard let id = field.kid?.text, !id.isEmpty, let key = try Self.key(field) else {
                continue
            }
            guard keys.updateValue(key, forKey: id) == nil else {
                throw VerificationFailure(.malformed, "a key's id comes twice in the set")
            }
        }
        guard !keys.isEmpty else {
            throw VerificationFailure(
                .malformed, "the set has no key with a kid for ES256 or RS256")
        }
        self.keys = keys
    }

    /// Reads a set that a server publishes for many programs. A key that is broken, weak, or of
    /// another kind is left out, as RFC 7517, section 5, wants it, and so are two different
    /// keys with one id. It may have no key: then no token counts. Throws `malformed` if it is
    /// no set.
    public init(published bytes: [UInt8]) throws(VerificationFailure) {
        var keys: [String: Key] = [:]
        var doubled: Set<String> = []
        for field in try Self.fields(bytes) {
            guard let id = field.kid?.text, !id.isEmpty,
                let key = (try? Self.key(field)) ?? nil
            else { continue }
            let before = keys.updateValue(key, forKey: id)
            if let before, before.bytes != key.bytes { doubled.insert(id) }
        }
        self.keys = keys.filter { !doubled.contains($0.key) }
    }

    private static func fields(_ bytes: [UInt8]) throws(VerificationFailure) -> [Field] {
        guard bytes.count <= bytesMax else {
            throw VerificationFailure(
                .malformed, "a key set has at most \(bytesMax) bytes")
        }
        guard let set = try? StrictJSON.decode(Fields.self, from: bytes) else {
            throw VerificationFailure(.malformed, "a key set is JSON with a list, `keys`")
        }
        guard set.keys.count <= keysMax else {
            throw VerificationFailure(.malformed, "a key set has at most \(keysMax) keys")
        }
        return set.keys
    }

    /// The public key of a signer of this process.
    public init(of signer: PlainKeySigner) {
        keys = [signer.keyID: .es256(signer.publicKey)]
    }

    public func has(_ keyID: String) -> Bool { keys[keyID] != nil }

    subscript(keyID: String) -> Key? { keys[keyID] }

    /// Nil for a key that is not used here.
    private static func key(_ field: Field) throws(VerificationFailure) -> Key? {
        guard field.use == nil || field.use == "sig" else { return nil }
        switch (field.kty, field.alg) {
        case ("EC", nil), ("EC", "ES256"):
            guard field.crv == "P-256" else { return nil }
            return .es256(SharedKey(try point(field)))
        case ("RSA", nil), ("RSA", "RS256"): return .rs256(SharedKey(try modulus(field)))
        default: return nil
        }
    }

    private static func point(
        _ field: Field
    ) throws(VerificationFailure) -> P256.Signing.PublicKey {
        guard let x = bytes(field.x), let y = bytes(field.y), x.count == 32, y.count == 32,
            let key = try? P256.Signing.PublicKey(rawRepresentation: x + y)
        else {
            throw VerificationFailure(
                .malformed, "a key for ES256 has the coordinates x and y of a point on P-256")
        }
        return key
    }

    private static func modulus(
        _ field: Field
    ) throws(VerificationFailure) -> _RSA.Signing.PublicKey {
        guard let n = number(field.n), modulusBytes.contains(n.count),
            let e = number(field.e), (1...4).contains(e.count), let last = e.last,
            last % 2 == 1, e != [1],
            let key = try? _RSA.Signing.PublicKey(n: n, e: e)
        else {
            throw VerificationFailure(
                .malformed,
                "a key for RS256 has 2048 to 8192 bits, n, and an odd exponent above 1, e")
        }
        return key
    }

    /// The bytes of a number, without zeros before it.
    private static func number(_ text: String?) -> [UInt8]? {
        bytes(text).map { Array($0.drop { $0 == 0 }) }
    }

    private static func bytes(_ text: String?) -> [UInt8]? {
        text.flatMap { Base64.decodeURL(Array($0.utf8)[...]) }
    }

    private struct Fields: Decodable {
        let keys: [Field]
    }

    /// A text. Nil in place of another value, which makes a key unusable and no set.
    private struct Word: Decodable {
        let text: String?

        init(from decoder: any Decoder) throws {
            text = try? decoder.singleValueContainer().decode(String.self)
        }
    }

    private struct Field: Decodable {
        let kty: String?
        let kid: Word?
        let alg: String?
        let use: String?
        let crv: String?
        let x: String?
        let y: String?
        let n: String?
        let e: String?
    }
}
