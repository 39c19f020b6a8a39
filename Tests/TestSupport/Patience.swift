// SPDX-License-Identifier: Apache-2.0

/// How long tests wait for what must come. It says nothing about how fast
/// that should be: on a machine with ten times as much to do as it has cores
/// a test that fails for want of patience tells nobody anything.
public enum Patience {
    /// Less than the five minutes of a suite's limit, so that whoever waited
    /// can say for what.
    public static let seconds = 240
    public static var milliseconds: Int { seconds * 1000 }
    public static var long: Duration { .seconds(seconds) }
}
