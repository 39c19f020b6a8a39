// SPDX-License-Identifier: Apache-2.0

import Foundation

/// How long tests wait for what must come. It says nothing about how fast
/// that should be: on a machine with ten times as much to do as it has cores
/// a test that fails for want of patience tells nobody anything.
public enum Patience {
    /// Less than the five minutes of a suite's limit, so that a wait in vain
    /// can say what it waited for. `SHOPKEEPER_PATIENCE` is another number of
    /// seconds, for runs in which many tests are expected to wait in vain.
    public static let seconds =
        ProcessInfo.processInfo.environment["SHOPKEEPER_PATIENCE"].flatMap(Int.init) ?? 240
    public static var milliseconds: Int { seconds * 1000 }
    public static var long: Duration { .seconds(seconds) }
}
