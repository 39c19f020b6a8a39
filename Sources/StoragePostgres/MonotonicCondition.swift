// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The time at which a wait ends, by the machine's monotonic clock. The wall
/// clock is unsuitable: if it is set forward or back, every wait would end at
/// once, or none would.
struct Deadline: Comparable {
    private let nanoseconds: UInt64

    /// The given number of milliseconds from now.
    static func after(milliseconds: Int) -> Deadline {
        Deadline(nanoseconds: Self.now + UInt64(max(0, milliseconds)) * 1_000_000)
    }

    func adding(milliseconds: Int) -> Deadline {
        Deadline(nanoseconds: nanoseconds + UInt64(max(0, milliseconds)) * 1_000_000)
    }

    private init(nanoseconds: UInt64) { self.nanoseconds = nanoseconds }

    var isPast: Bool { nanoseconds <= Self.now }

    /// The time left, rounded up. 0 once the deadline has passed.
    var millisecondsLeft: Int {
        let now = Self.now
        return now >= nanoseconds ? 0 : Int((nanoseconds - now + 999_999) / 1_000_000)
    }

    /// The format that the condition's wait expects.
    fileprivate var absolute: timespec {
        timespec(
            tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
    }

    static func < (left: Self, right: Self) -> Bool { left.nanoseconds < right.nanoseconds }

    private static var now: UInt64 {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        return UInt64(now.tv_sec) * 1_000_000_000 + UInt64(now.tv_nsec)
    }
}

/// A lock with a condition, like `NSCondition`, except that its time-outs
/// follow the monotonic clock.
///
/// `@unchecked`: it wraps the system's lock and condition, at addresses that do
/// not change.
final class MonotonicCondition: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    /// The condition whose lock this one shares. Nil if the lock is its own.
    private let owner: MonotonicCondition?

    /// `owner`: a condition under whose lock this one is signalled and waited for.
    init(under owner: MonotonicCondition? = nil) {
        self.owner = owner
        mutex = owner?.mutex ?? .allocate(capacity: 1)
        if owner == nil { pthread_mutex_init(mutex, nil) }
        #if canImport(Darwin)
            pthread_cond_init(condition, nil)
        #else
            var attributes = pthread_condattr_t()
            pthread_condattr_init(&attributes)
            pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
            pthread_cond_init(condition, &attributes)
            pthread_condattr_destroy(&attributes)
        #endif
    }

    deinit {
        pthread_cond_destroy(condition)
        condition.deallocate()
        guard owner == nil else { return }
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    func lock() { pthread_mutex_lock(mutex) }

    func unlock() { pthread_mutex_unlock(mutex) }

    func withLock<Answer>(_ body: () throws -> Answer) rethrows -> Answer {
        lock()
        defer { unlock() }
        return try body()
    }

    /// Wakes one of those that wait.
    func signal() { pthread_cond_signal(condition) }

    func broadcast() { pthread_cond_broadcast(condition) }

    func wait() { pthread_cond_wait(condition, mutex) }

    /// Returns false if the deadline passed first.
    func wait(until deadline: Deadline) -> Bool {
        #if canImport(Darwin)
            let left = deadline.millisecondsLeft
            var span = timespec(tv_sec: left / 1000, tv_nsec: left % 1000 * 1_000_000)
            return pthread_cond_timedwait_relative_np(condition, mutex, &span) == 0
        #else
            var end = deadline.absolute
            return pthread_cond_timedwait(condition, mutex, &end) == 0
        #endif
    }
}
