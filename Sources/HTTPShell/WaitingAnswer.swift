// SPDX-License-Identifier: Apache-2.0

package import Hummingbird
import NIOCore
import ServiceLifecycle

/// The answer to a request, or the wait that comes before it.
/// Indirect, because a request that waits keeps it.
package indirect enum FirstAnswer: Sendable {
    case response(Response)
    case later(any WaitingAnswer)
}

/// An answer that comes after a change, or when the time is over.
/// A class, because thousands wait, each passed through several functions.
package protocol WaitingAnswer: AnyObject, Sendable {
    /// The customer in whose share of the places the request waits.
    var customer: String { get }
    /// How long the request waits at most.
    var duration: Duration { get }

    /// Returns after a change, or when ``end()`` was called.
    @Sendable func untilChanged() async throws
    @Sendable func end()

    @Sendable func answer() async throws -> Response

    /// Nothing waits any more.
    func close()
}

extension Call {
    /// Waits in a place of the customer's share. If a proxy reports the client's
    /// address, the place also counts in the address's share. Without a proxy,
    /// all clients are on one machine and have the same address.
    func wait(for answer: any WaitingAnswer) async throws {
        var shares = [
            WaitingPlaces.Holder.customer(answer.customer): configuration.waitingPerCustomerMax
        ]
        if approach.isProxied, let client = approach.client {
            shares[.address(client.description)] = configuration.waitingPerAddressMax
        }
        let client = try await client()
        try figures.places.take(max: configuration.waitingMax, shares: shares)
        defer { figures.places.giveBack(shares) }
        // Callbacks and no tasks, because thousands of devices wait at the same
        // time.
        let alarm = ports.alarms.set(answer.duration, answer.end)
        defer { ports.alarms.remove(alarm) }
        client.onGone(answer.end)
        defer { client.onGone(nil) }
        try await withGracefulShutdownHandler(
            operation: answer.untilChanged, onGracefulShutdown: answer.end)
        if client.isGone { throw RequestMistake.clientGone }
    }

    /// Runs `body`, and cancels it when the client disconnects. Throws `clientGone`.
    package func whileConnected<Answer: Sendable>(
        _ body: @escaping @Sendable () async throws -> Answer
    ) async throws -> Answer {
        let client = try await client()
        let work = Task { try await body() }
        client.onGone { work.cancel() }
        defer { client.onGone(nil) }
        do {
            return try await withTaskCancellationHandler {
                try await work.value
            } onCancel: {
                work.cancel()
            }
        } catch is CancellationError {
            throw RequestMistake.clientGone
        }
    }

    private func client() async throws -> Client {
        do {
            return try await channel.pipeline.handler(type: ClientWatch.self).map(\.client).get()
        } catch { throw RequestMistake.clientGone }
    }
}

/// Runs `body` in a task that ends with it. A task keeps the memory of its
/// deepest call until it ends. A request that reads and then waits would keep
/// what the reading needed for as long as it waits. Not inlined, for the same
/// reason.
@inline(never)
func inBriefTask<Answer: Sendable>(
    _ body: @escaping @Sendable () async throws -> Answer
) async throws -> Answer {
    try await withThrowingTaskGroup(of: Answer.self) { group in
        group.addTask(operation: body)
        for try await answer in group { return answer }
        throw CancellationError()
    }
}
