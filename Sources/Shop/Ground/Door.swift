// SPDX-License-Identifier: Apache-2.0

/// The doors of a store that need one of the store's keys.
public enum Door: String, Sendable, CaseIterable {
    /// Catalogue, customers, transactions and realms, for both kinds of realm.
    case `operator`
    /// Clocks and forced states, for sandboxes only.
    case control
    /// Metrics for monitoring. They change nothing.
    case metrics
}
