// SPDX-License-Identifier: Apache-2.0

public import Testing

/// A suite whose failure counts at once.
///
/// `scripts/run-tests` runs a few suites once more when they fail among many,
/// since tests that start programs fail there for want of a processor. A
/// suite that looks for rare faults must not get a second chance: one that draws
/// seeds, kills, cuts, cuts the power, simulates or proves. `TidyTests` knows
/// those suites, and `scripts/run-tests` reads this mark in the sources.
public struct Unforgiven: SuiteTrait {}

extension Trait where Self == Unforgiven {
    public static var unforgiven: Self { Unforgiven() }
}
