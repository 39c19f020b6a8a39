// SPDX-License-Identifier: Apache-2.0

import Logging
import NIOCore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Stops a port from accepting for a moment when the operating system has no
/// file descriptor or memory for another connection. Without it, the port would
/// retry at once and without end, because the client still waits. The error
/// would also end the server's accepting. A class, because channel handlers are
/// classes.
final class AcceptPause: ChannelDuplexHandler {
    typealias InboundIn = any Channel
    typealias InboundOut = any Channel
    typealias OutboundIn = Never
    typealias OutboundOut = Never

    static let pause = TimeAmount.milliseconds(200)
    private static let shortages: Set<Int32> = [EMFILE, ENFILE, ENOBUFS, ENOMEM]

    private let logger: Logger
    private var isPaused = false

    init(logger: Logger) {
        self.logger = logger
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let failure = error as? IOError, Self.shortages.contains(failure.errnoCode) else {
            context.fireErrorCaught(error)
            return
        }
        guard !isPaused else { return }
        isPaused = true
        logger.warning(
            "no connection can be accepted for now", metadata: ["errno": "\(failure.errnoCode)"])
        setReading(context, false)
        let resumed = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        context.eventLoop.scheduleTask(in: Self.pause) {
            let (handler, context) = resumed.value
            handler.isPaused = false
            handler.setReading(context, true)
            context.read()
        }
    }

    func read(context: ChannelHandlerContext) {
        if !isPaused { context.read() }
    }

    private func setReading(_ context: ChannelHandlerContext, _ reads: Bool) {
        try? context.channel.syncOptions?.setOption(.autoRead, value: reads)
    }
}
