// SPDX-License-Identifier: Apache-2.0

public import Commerce
import Foundation

/// The only place that reads the machine's clocks, randomness and environment.
public enum Live {
    /// The machine's time.
    public static let wallClock = WallClock {
        Timestamp(milliseconds: Int64((Date().timeIntervalSince1970 * 1000).rounded(.down)))
    }

    /// Bytes from the operating system that cannot be foretold.
    public static let randomness = Randomness { count in
        var generator = SystemRandomNumberGenerator()
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        // Each word is a call of the system, so all of its bytes are used.
        while bytes.count < count {
            withUnsafeBytes(of: generator.next()) { bytes += $0.prefix(count - bytes.count) }
        }
        return bytes
    }

    /// Time since some instant, that never goes back: for time-outs and durations only.
    public static func monotonic() -> Duration {
        started.duration(to: .now)
    }

    private static let started = ContinuousClock.now

    /// The process's environment.
    public static var environment: [String: String] { ProcessInfo.processInfo.environment }

    /// Waits; ends early with `CancellationError` when the task is cancelled.
    public static func sleep(_ duration: Duration) async throws {
        try await Task.sleep(for: duration)
    }
}
