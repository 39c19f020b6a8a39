// SPDX-License-Identifier: Apache-2.0

import Commerce

extension Realm {
    /// When renewals are charged.
    var renewalRules: RenewalRules { isProduction ? .production : .sandbox }

    /// Whether renewals can be charged. A payment processor is not asked for them
    /// yet, and without one a production realm charges nothing.
    var chargesRenewals: Bool { authoriserKind == .rule }

    /// Whether a subscription is sold. `plan` is nil if it lacks a group or a
    /// period, or is not offered.
    func sells(_ plan: SubscriptionPlan?) -> Bool { processor == nil && plan != nil }
}
