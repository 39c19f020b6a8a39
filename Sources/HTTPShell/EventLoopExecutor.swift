// SPDX-License-Identifier: Apache-2.0

import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1

/// Runs a task on a connection's event loop. So reading, answering and writing
/// do not change threads. A class, because executors are classes.
///
/// Such a task must not block. Slow work and work on disks have threads of
/// their own (`Storage`, `Passwords`).
final class EventLoopExecutor: TaskExecutor {
    private let loop: any EventLoop

    init(_ loop: any EventLoop) {
        self.loop = loop
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        loop.execute { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
}

/// HTTP/1.1 with requests that are answered on their connection's event loop.
struct LoopHTTP1: ServerChildChannel {
    let http: HTTP1Channel
    let unparsed: UnparsedAnswers
    let bodyTimeout: TimeAmount
    /// A connection with a higher descriptor is closed at once. Descriptors are
    /// assigned from the lowest free one, so a high one means that the rest are
    /// used for other things.
    let descriptorMax: Int32
    /// Adds encryption to a new connection. Nil for a plain one.
    let prepare: (@Sendable (any Channel) throws -> Void)?

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<HTTP1Channel.Value> {
        do { try prepare?(channel) } catch { return channel.eventLoop.makeFailedFuture(error) }
        return http.setup(channel: channel, logger: logger).flatMapThrowing {
            [unparsed, bodyTimeout, descriptorMax] value in
            let pipeline = channel.pipeline.syncOperations
            let number = try pipeline.withUnsafeTransportIfAvailable(
                of: NIOBSDSocket.Handle.self
            ) { $0 }
            if let number, number > descriptorMax { channel.close(promise: nil) }
            // Half of the default, which holds most requests. A connection that
            // waits keeps it.
            try channel.syncOptions?.setOption(
                .recvAllocator,
                value: AdaptiveRecvByteBufferAllocator(
                    minimum: 64, initial: 1024, maximum: 65_536))
            let decoder = try pipeline.handler(
                type: ByteToMessageHandler<HTTPRequestDecoder>.self)
            try pipeline.addHandler(BodyPatience(bodyTimeout), position: .after(decoder))
            try pipeline.addHandler(LastAnswer(), position: .after(decoder))
            let held = HeldHead()
            try pipeline.addHandler(held, position: .before(decoder))
            try pipeline.addHandler(ClientWatch(), position: .first)
            try pipeline.addHandler(
                UnparsedRequest(unparsed, held), position: .after(decoder))
            try pipeline.addHandler(AbsoluteTarget(), position: .after(decoder))
            return value
        }
    }

    func handle(value: HTTP1Channel.Value, logger: Logger) async {
        await withTaskExecutorPreference(EventLoopExecutor(value.channel.eventLoop)) {
            await http.handle(value: value, logger: logger)
        }
    }
}
