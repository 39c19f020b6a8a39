// SPDX-License-Identifier: Apache-2.0

import Foundation
public import Testing

extension Trait where Self == ConditionTrait {
    /// For suites that use no database: they run once, with SQLite, and not again
    /// with `SHOPKEEPER_TEST_ENGINE=postgres`.
    public static var engineFree: Self {
        .disabled(
            if: ProcessInfo.processInfo.environment["SHOPKEEPER_TEST_ENGINE"] == "postgres",
            "it uses no database")
    }
}
