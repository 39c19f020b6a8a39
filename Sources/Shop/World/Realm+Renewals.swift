// SPDX-License-Identifier: Apache-2.0

import Commerce

extension Realm {
    /// When renewals are charged.
    var renewalRules: RenewalRules {
        guard isProduction else { return .sandbox }
        return processor == nil ? .production : .processor
    }

    /// Whether renewals can be charged. Without a payment processor a production
    /// realm charges nothing.
    var chargesRenewals: Bool { authoriserKind != .none }
}
