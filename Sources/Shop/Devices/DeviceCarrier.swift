// SPDX-License-Identifier: Apache-2.0

/// What brings a device's call to the store, and its answer back.
public protocol DeviceCarrier: Sendable {
    /// Suspends for a duration. May return or throw earlier if the carrier stops.
    func sleep(_ duration: Duration) async throws

    /// Runs `body` only for as long as somebody waits for its answer.
    func whileAwaited<Answer: Sendable>(
        _ body: @escaping @Sendable () async throws -> Answer
    ) async throws -> Answer

    /// Runs `body` in a place for requests that wait for changes. `customer` is
    /// unique in the store. Throws if the customer's places are taken.
    func inWaitingPlace<Answer: Sendable>(
        of customer: String, _ body: () async throws -> Answer
    ) async throws -> Answer
}

/// A carrier in the caller's own process: it has room for every request, and
/// its caller always waits.
extension DeviceCarrier {
    public func whileAwaited<Answer: Sendable>(
        _ body: @escaping @Sendable () async throws -> Answer
    ) async throws -> Answer {
        try await body()
    }

    public func inWaitingPlace<Answer: Sendable>(
        of customer: String, _ body: () async throws -> Answer
    ) async throws -> Answer {
        try await body()
    }
}
