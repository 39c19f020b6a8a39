// SPDX-License-Identifier: Apache-2.0

import Testing

extension Trait where Self == ConditionTrait {
    /// For suites that use PostgreSQL whatever the engine of the run is: they are
    /// played in the run with SQLite, and not again.
    static var onPostgresAlready: Self {
        .disabled(
            if: TestPlaces.isOnPostgres, "the run with SQLite has played it on PostgreSQL")
    }
}
