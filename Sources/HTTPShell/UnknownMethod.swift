// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHTTP1

/// Answers 501 where the parser does not know a request's method (RFC 9110,
/// 15.6.2). The library below answers 400 to every request that it cannot parse.
/// A class, because channel handlers are.
final class UnknownMethod: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// The parsed requests that are not answered yet.
    private var owed = 0
    private var isUnknown = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .head = Self.unwrapInboundIn(data) { owed += 1 }
        context.fireChannelRead(data)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if error as? HTTPParserError == .invalidMethod { isUnknown = true }
        context.fireErrorCaught(error)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        var data = data
        switch Self.unwrapOutboundIn(data) {
        case .head(var head) where isUnknown && owed == 0:
            head.status = .notImplemented
            data = Self.wrapOutboundOut(.head(head))
        case .end: owed -= 1
        default: break
        }
        context.write(data, promise: promise)
    }
}
