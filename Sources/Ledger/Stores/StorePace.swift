// SPDX-License-Identifier: Apache-2.0

import Commerce

/// When a failed call is repeated within one request.
struct RetryRule: Hashable, Sendable {
    let attempts: Int
    let timeoutMilliseconds: Int
    /// The longest that a call waits for its turn.
    var turnMilliseconds: Int64 = 5_000

    /// While a caller waits for the answer.
    static let prompt = RetryRule(attempts: 2, timeoutMilliseconds: 5_000)
    /// For a worker, while no caller waits.
    static let patient = RetryRule(
        attempts: 3, timeoutMilliseconds: 15_000, turnMilliseconds: 60_000)

    static let firstPauseMilliseconds: Int64 = 200

    /// Returns the pause after a failed attempt: it doubles, and a random half of it
    /// keeps clients from returning at once. Nil after the last attempt.
    func pauseMilliseconds(afterAttempt attempt: Int, random: UInt64) -> Int64? {
        guard attempt < attempts else { return nil }
        let whole = Self.firstPauseMilliseconds << Int64(min(attempt - 1, 10))
        return whole / 2 + Int64(random % UInt64(whole / 2 + 1))
    }
}

/// Reads `Retry-After`. Apple sends UNIX time in milliseconds, others seconds from
/// now.
enum RetryAfter {
    /// The longest wait that a store can ask for. Apple counts calls by the hour, so its
    /// next hour is never further away. A store that asks for more, by mistake or by a
    /// wrong clock, is asked again after an hour: proofs wait for its answer.
    static let millisecondsMax: Int64 = 3_600_000
    /// Smaller numbers are seconds from now: as a date, this one is in 1973.
    private static let firstDate: Int64 = 100_000_000_000

    /// Returns the instant before which the store wants no call. Nil if the header
    /// is missing or is no number.
    static func instant(_ header: String?, now: Timestamp) -> Timestamp? {
        guard let header, let number = Int64(header), number >= 0 else { return nil }
        let wait =
            number >= firstDate
            ? min(number, Int64(Timestamp.magnitudeMax)) - now.milliseconds
            : min(number, millisecondsMax / 1000) * 1000
        return now.adding(milliseconds: min(max(wait, 0), millisecondsMax))
    }

    /// Returns the instant before which a server of the merchant's wants no message, by
    /// seconds or a date (RFC 9110). At most as far ahead as a message is sent. Nil if
    /// the header is missing or is neither.
    static func endpoint(_ header: String?, now: Timestamp) -> Timestamp? {
        guard let header else { return nil }
        let latest = now.adding(milliseconds: Ledger.parkedAfterMilliseconds)
        if !header.isEmpty, header.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            // More digits than a number has are a long time.
            let seconds = Int64(header) ?? .max
            return seconds < Ledger.parkedAfterMilliseconds / 1000
                ? now.adding(seconds: seconds) : latest
        }
        return HTTPDate.instant(header, now: now).map { min(max($0, now), latest) }
    }
}

/// Keeps calls away from a server that does not answer, or that asked for a pause.
/// After a pause one call is let through; its result decides.
struct CircuitBreaker: Hashable, Sendable {
    /// The number of failures in a row that open it.
    static let failuresMax = 5
    static let pauseMilliseconds: Int64 = 30_000
    static let pauseMillisecondsMax: Int64 = 600_000

    private var failures = 0
    private var closedUntil: Timestamp?
    /// As the store asked. The answer to an earlier call does not end it.
    private var restsUntil: Timestamp?
    /// How often calls were kept away since the process began.
    private(set) var closings = 0

    /// Returns nil if a call may be made, and else the instant of the next one.
    mutating func wait(at now: Timestamp) -> Timestamp? {
        if let until = closing(at: now) { return until }
        guard closedUntil != nil else { return nil }
        // The others wait for the result of this call.
        closedUntil = now.adding(milliseconds: Self.pauseMilliseconds)
        return nil
    }

    /// When calls are made again. Nil if they are not kept away.
    func closing(at now: Timestamp) -> Timestamp? {
        [restsUntil, closedUntil].compactMap(\.self).filter {
            // More than any pause is left if the machine's clock was set back.
            (1...RetryAfter.millisecondsMax).contains($0.milliseconds(since: now))
        }.max()
    }

    mutating func succeed() { (failures, closedUntil) = (0, nil) }

    mutating func fail(at now: Timestamp) {
        failures += 1
        guard failures >= Self.failuresMax else { return }
        let doublings = Int64(min(failures - Self.failuresMax, 10))
        let pause = min(Self.pauseMilliseconds << doublings, Self.pauseMillisecondsMax)
        closedUntil = now.adding(milliseconds: pause)
        closings += 1
    }

    /// The store asked for a pause.
    mutating func rest(until instant: Timestamp) {
        restsUntil = max(restsUntil ?? instant, instant)
        closings += 1
    }
}

/// A number of calls in a second, of which up to one second's may be made at once.
struct RateBudget: Hashable, Sendable {
    private let intervalMicroseconds: Int64
    private let burstMicroseconds: Int64
    /// In microseconds since 1970: when the next call would be made at an even pace.
    private var next: Int64 = .min

    init(perSecond: Int) {
        intervalMicroseconds = 1_000_000 / Int64(min(max(perSecond, 1), 1_000_000))
        burstMicroseconds = 1_000_000 - intervalMicroseconds
    }

    /// Takes a call from the budget. Returns the milliseconds to wait before it.
    mutating func take(at now: Timestamp) -> Int64 {
        defer { next += intervalMicroseconds }
        return wait(at: now)
    }

    /// Returns the milliseconds that the next call would wait.
    mutating func wait(at now: Timestamp) -> Int64 {
        let now = now.milliseconds * 1000
        // Nothing is saved for longer than a second. A value from far ahead is from
        // before the machine's clock was set back.
        if next < now - burstMicroseconds || next > now + 3_600_000_000 {
            next = now - burstMicroseconds
        }
        return max(0, (next - now + 999) / 1000)
    }
}
