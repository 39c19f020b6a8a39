// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHTTP1

/// Ends a connection after the answer to a request that does not keep it: one of
/// HTTP/1.0 without `Connection: keep-alive`, and one with `Connection: close`.
/// The answer says so, and what comes behind such a request is not read. A
/// class, because channel handlers are.
final class LastAnswer: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// What the answers that are owed say of the connection, in their order.
    private var owed: CircularBuffer<String?> = []
    private var isLastRead = false
    private var isBodyRead = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch Self.unwrapInboundIn(data) {
        case .head(let head):
            guard !isLastRead else { return }
            isLastRead = !head.isKeepAlive
            let isOld = (head.version.major, head.version.minor) < (1, 1)
            owed.append(isLastRead ? "close" : isOld ? "keep-alive" : nil)
        case .body: if isBodyRead { return }
        case .end:
            if isBodyRead { return }
            isBodyRead = isLastRead
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch Self.unwrapOutboundIn(data) {
        case .head(var head) where !head.status.isInformational:
            if let word = owed.first ?? nil {
                head.headers.replaceOrAdd(name: "Connection", value: word)
            }
            context.write(Self.wrapOutboundOut(.head(head)), promise: promise)
        case .end:
            let isLast = owed.popFirst() == .some("close")
            guard isLast else { return context.write(data, promise: promise) }
            let written = promise ?? context.eventLoop.makePromise()
            let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
            written.futureResult.whenComplete { _ in bound.value.close(promise: nil) }
            context.writeAndFlush(data, promise: written)
        default: context.write(data, promise: promise)
        }
    }
}

extension HTTPResponseStatus {
    /// Such an answer is followed by the one that counts.
    fileprivate var isInformational: Bool { (100..<200).contains(code) }
}
