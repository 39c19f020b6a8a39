// SPDX-License-Identifier: Apache-2.0

public import Commerce
import Foundation

/// The only place that reads the machine's clocks, randomness and environment.
public enum Live {
    /// The machine's time.
    public static let wallClock = WallClock {
        Timestamp(milliseconds: Int64((Date().timeIntervalSince1970 * 1000).rounded(.down)))
    }

    /// Unpredictable bytes from the operating system.
    public static let randomness = Randomness { count in
        var generator = SystemRandomNumberGenerator()
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        // Each call of the generator is a system call, so all of its bytes are
        // used.
        while bytes.count < count {
            withUnsafeBytes(of: generator.next()) { bytes += $0.prefix(count - bytes.count) }
        }
        return bytes
    }

    /// The time since a fixed instant. It never decreases. Use it only for
    /// time-outs and durations.
    public static func monotonic() -> Duration {
        started.duration(to: .now)
    }

    private static let started = ContinuousClock.now

    /// The process's environment.
    public static var environment: [String: String] { ProcessInfo.processInfo.environment }

    /// How many file descriptors the process may have open at once.
    public static var descriptorLimit: Int { Int(clamping: limits.rlim_cur) }

    /// How many file descriptors the process has open: the entries of
    /// `/dev/fd`, except the one for reading it.
    public static func openDescriptors() -> Int? {
        let entries = try? FileManager.default.contentsOfDirectory(atPath: "/dev/fd")
        return entries.map { $0.count - 1 }
    }

    /// Raises the limit of file descriptors as far as this process may, to at
    /// most a million. Programs that it starts inherit the limit.
    public static func raiseDescriptorLimit() {
        var raised = limits
        raised.rlim_cur = max(raised.rlim_cur, min(raised.rlim_max, 1_048_576))
        // If the system refuses, the limit stays as it was, and
        // ``descriptorLimit`` returns that.
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
