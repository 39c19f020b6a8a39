// SPDX-License-Identifier: Apache-2.0

import SignedData

extension Store {
    /// Returns the name of the realm that owns the key of a server's token,
    /// from the token's key id alone. The realm still verifies the token. Nil
    /// if no realm has such a key.
    public func realmName(ofBearer bearer: String?) async throws -> String? {
        guard let bearer, let token = try? recentTokens.parse(bearer),
            !token.keyID.utf8.contains(0), token.keyID.utf8.count <= Edge.textBytesMax
        else { return nil }
        return try await keyRealms.name(ofRealmWith: token.keyID)
    }
}
