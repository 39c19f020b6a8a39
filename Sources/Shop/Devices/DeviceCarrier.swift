// SPDX-License-Identifier: Apache-2.0

/// What brings a device's call to the store, and its answer back.
public protocol DeviceCarrier: Sendable {
    /// Runs `body` only for as long as somebody waits for its answer.
    func whileAwaited<Answer: Sendable>(
        _ body: @escaping @Sendable () async throws -> Answer
    ) async throws -> Answer
}
