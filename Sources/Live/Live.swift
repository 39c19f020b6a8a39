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

    /// How many descriptors the process may have open at once.
    public static var descriptorLimit: Int { Int(clamping: limits.rlim_cur) }

    /// How many it has open: the entries of `/dev/fd`, without the one that reading it takes.
    public static func openDescriptors() -> Int? {
        let entries = try? FileManager.default.contentsOfDirectory(atPath: "/dev/fd")
        return entries.map { $0.count - 1 }
    }

    /// Raises the limit as far as this process may without other rights, to at
    /// most a million. Programs that it starts inherit the raised limit.
    public static func raiseDescriptorLimit() {
        var raised = limits
        raised.rlim_cur = max(raised.rlim_cur, min(raised.rlim_max, 1_048_576))
        // Where the system refuses, the limit stays as it was, and is told.
        _ = setrlimit(descriptors, &raised)
    }

    private static var limits: rlimit {
        var limits = rlimit()
        return getrlimit(descriptors, &limits) == 0 ? limits : rlimit()
    }

    #if canImport(Glibc)
        private static let descriptors = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
        private static let descriptors = RLIMIT_NOFILE
    #endif

    /// How many processors this process may use.
    public static var processors: Int { ProcessInfo.processInfo.activeProcessorCount }

    /// Waits; ends early with `CancellationError` when the task is cancelled.
    public static func sleep(_ duration: Duration) async throws {
        try await Task.sleep(for: duration)
    }
}
