// SPDX-License-Identifier: Apache-2.0

import Storage
public import StoreWire

/// The answer to a device's call, or the wait that comes before it.
public enum DeviceAnswer: Sendable {
    case reply(DeviceReply)
    case wait(DeviceWait)
}

/// A call that waits for news, until it is closed. It is a value and no
/// suspended function, so that its carrier can wait where that costs the least.
public struct DeviceWait: Sendable {
    /// The customer whose devices wait, unique in the store.
    public let customer: String
    /// How long the call waits at most.
    public let duration: Duration
    let news: AwaitedNews
    let answer: @Sendable () async throws -> DeviceReply

    /// Returns when there is news, or when the wait was ended.
    public func untilNews() async throws { try await news.wait() }

    /// Ends the wait.
    public func end() { news.ticket.end() }

    /// Returns the reply after the wait.
    public func reply() async throws -> DeviceReply { try await answer() }

    /// Nothing waits any more.
    public func close() { news.close() }
}

extension DeviceRoom {
    /// Answers a call of the device protocol in the caller's own process, where
    /// every call has room to wait. `sleep` limits how long it waits.
    public func answer(
        _ call: DeviceCall, _ context: RequestContext,
        sleep: @escaping @Sendable (Duration) async throws -> Void
    ) async throws -> DeviceReply {
        switch try await answer(call, context, by: CallerItself()) {
        case .reply(let reply): return reply
        case .wait(let wait):
            defer { wait.close() }
            try await wait.news.wait { try await sleep(wait.duration) }
            return try await wait.reply()
        }
    }
}

/// A carrier whose caller always waits for the answer.
private struct CallerItself: DeviceCarrier {
    func whileAwaited<Answer: Sendable>(
        _ body: @escaping @Sendable () async throws -> Answer
    ) async throws -> Answer {
        try await body()
    }
}
