// SPDX-License-Identifier: Apache-2.0

import Work

/// What a realm shares with the others of its store, and what is done in its rooms
/// for its worker.
struct RealmParts: Sendable {
    let ports: StorePorts
    let numbers: NumberBlocks
    let keyRealms: ServerKeyRealms
    let recentTokens: RecentTokens
    let authorities: Authorities
    let passwordQueue: PasswordQueue
    let attempts: AttemptLimits
    let contentKey: ContentLinkKey
    /// The handlers of outer work, with the realm's payment processor.
    let errandHandlers: @Sendable ((any Authoriser)?) -> [any ErrandHandler<Realm>]
    let dueWorkHandlers: [any DueWorkHandler<Realm>]
    let chores: [Chore<Realm>]
    /// Creates the customer that a new sandbox has.
    let makeDefaultCustomer: @Sendable (Realm) async throws -> Void
}
