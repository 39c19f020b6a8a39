// SPDX-License-Identifier: Apache-2.0

import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1

/// Runs a task on a connection's event loop: reading, answering and writing
/// then change no thread, and only what a disk holds up comes from another.
/// A class because executors are.
///
/// Nothing that such a task does may block: what takes long or waits for a
/// disk has threads of its own (`Storage`, `Passwords`).
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

/// HTTP/1.1 whose requests are answered on their connection's event loop.
struct LoopHTTP1: ServerChildChannel {
    let http: HTTP1Channel
    let bodyTimeout: TimeAmount
    /// A connection with a higher number is closed at once: numbers are given out
    /// from the lowest free one on, so that other things have taken the rest.
    let descriptorMax: Int32

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<HTTP1Channel.Value> {
        http.setup(channel: channel, logger: logger).flatMapThrowing {
            [bodyTimeout, descriptorMax] value in
            let pipeline = channel.pipeline.syncOperations
            let number = try pipeline.withUnsafeTransportIfAvailable(
                of: NIOBSDSocket.Handle.self
            ) { $0 }
            if let number, number > descriptorMax { channel.close(promise: nil) }
            let decoder = try pipeline.handler(
                type: ByteToMessageHandler<HTTPRequestDecoder>.self)
            try pipeline.addHandler(BodyPatience(bodyTimeout), position: .after(decoder))
            return value
        }
    }

    func handle(value: HTTP1Channel.Value, logger: Logger) async {
        await withTaskExecutorPreference(EventLoopExecutor(value.channel.eventLoop)) {
            await http.handle(value: value, logger: logger)
        }
    }
}
