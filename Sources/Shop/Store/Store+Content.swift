// SPDX-License-Identifier: Apache-2.0

import Commerce
import StoreWire

extension Store {
    /// Opens the package that a link leads to. `query` returns the parameters of the
    /// link. Refusals, in order: `contentLinkInvalid`, `contentLinkExpired`,
    /// `contentNotOwned`, `contentNotHosted`, `contentMissing`.
    public func openContent(
        _ sha256: String, query: (String) -> String?
    ) async throws -> any ContentReader {
        guard let signature = query("signature"),
            let grant = ContentGrant(sha256: sha256, query: query)
        else { throw ContentRoom.linkInvalid }
        let realm: Realm
        do { realm = try await self.realm(named: grant.realm) } catch is Refusal {
            throw ContentRoom.linkInvalid
        }
        guard try await contentKey.isSigned(grant.signed(realm.description.id), signature) else {
            throw ContentRoom.linkInvalid
        }
        guard ports.wall.now < grant.expires else { throw ContentRoom.linkExpired }
        return try await realm.content.open(grant)
    }
}
