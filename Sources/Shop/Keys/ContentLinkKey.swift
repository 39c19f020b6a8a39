// SPDX-License-Identifier: Apache-2.0

import Commerce
import Crypto
import Foundation
import Synchronization

/// The store's key that signs links to hosted content. All processes of a store use
/// the same key, which is made for the first link. A class, because all realms of a
/// store share it.
final class ContentLinkKey: Sendable {
    static let name = "content/links"

    private let keys: any KeyStore
    private let randomness: Randomness
    private let known = Mutex<[UInt8]?>(nil)

    init(keys: any KeyStore, randomness: Randomness) {
        self.keys = keys
        self.randomness = randomness
    }

    /// Returns the signature of a text, in lower-case hexadecimal digits.
    func sign(_ text: String) async throws -> String {
        let key = SymmetricKey(data: try await bytes())
        return hexadecimal(HMAC<SHA256>.authenticationCode(for: Data(text.utf8), using: key))
    }

    /// Compares in constant time.
    func isSigned(_ text: String, _ signature: String) async throws -> Bool {
        constantTimeEqual(Array(signature.utf8), Array(try await sign(text).utf8))
    }

    private func bytes() async throws -> [UInt8] {
        if let known = known.withLock({ $0 }) { return known }
        let stored = try await keys.store(randomness.bytes(32), as: Self.name)
        guard stored.count >= 32 else { throw KeyStoreFault(Self.name, "shorter than 32 bytes") }
        known.withLock { $0 = stored }
        return stored
    }
}
