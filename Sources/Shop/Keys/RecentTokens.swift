// SPDX-License-Identifier: Apache-2.0

import Commerce
import SignedData
import Synchronization

/// The bearer tokens whose signatures were right, because a merchant's server sends one
/// token with many requests. Parsing a token and checking its signature takes longer than
/// the rest of a request. What can change is checked at each request: the key in the
/// database, the token's times, and the owner of the key.
///
/// A class, because all realms of a store share it.
final class RecentTokens: Sendable {
    /// The most tokens, which take at most a few megabytes.
    static let countMax = 1000

    private struct Entry {
        let token: BearerToken
        /// The key by which the signature was right.
        let publicKey: [UInt8]
    }

    private let entries = Mutex<[String: Entry]>([:])
    private let countMax: Int

    init(countMax: Int = RecentTokens.countMax) {
        self.countMax = countMax
    }

    /// How many are remembered.
    var count: Int { entries.withLock { $0.count } }

    /// Returns the token of a text, verified or not.
    func parse(_ bearer: String) throws(VerificationFailure) -> BearerToken {
        if let known = entries.withLock({ $0[bearer] }) { return known.token }
        return try BearerToken.parse(bearer)
    }

    /// ``BearerToken/verify(publicKey:now:)`` of a token, which was parsed from the text.
    func verify(
        _ token: BearerToken, of bearer: String, publicKey: [UInt8], now wall: Timestamp
    ) throws(VerificationFailure) -> BearerClaims {
        if let known = entries.withLock({ $0[bearer] }), known.publicKey == publicKey {
            return try known.token.claims(at: wall)
        }
        let claims = try token.verify(publicKey: publicKey, now: wall)
        entries.withLock { entries in
            // Rare. Each forgotten token is verified once more.
            if entries.count >= countMax { entries = [:] }
            entries[bearer] = Entry(token: token, publicKey: publicKey)
        }
        return claims
    }
}
