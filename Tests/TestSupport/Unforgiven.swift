// SPDX-License-Identifier: Apache-2.0

public import Testing

/// Marks a suite whose failure always counts.
///
/// `scripts/run-tests` repeats a few failed suites, because tests that start
/// programs may fail if the processors are busy. A suite that looks for rare
/// faults must not be repeated: one that draws seeds, kills, cuts, cuts the
/// power, simulates or proves. `TidyTests` knows these suites, and
/// `scripts/run-tests` reads this mark in the sources.
public struct Unforgiven: SuiteTrait {}

extension Trait where Self == Unforgiven {
    public static var unforgiven: Self { Unforgiven() }
}
