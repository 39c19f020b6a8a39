// SPDX-License-Identifier: Apache-2.0

import Foundation

/// How long tests wait. It is not a limit for speed: on an overloaded machine,
/// a test that fails by a short time-out would prove nothing.
public enum Patience {
    /// Less than the five minutes of a suite's limit, so that a failed wait can
    /// still report what it awaited. `SHOPKEEPER_PATIENCE` sets another number
    /// of seconds, for runs in which many waits are expected to fail.
    public static let seconds =
        ProcessInfo.processInfo.environment["SHOPKEEPER_PATIENCE"].flatMap(Int.init) ?? 240
    public static var milliseconds: Int { seconds * 1000 }
    public static var long: Duration { .seconds(seconds) }
}
