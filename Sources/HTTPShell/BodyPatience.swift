// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHTTP1

/// Applies two rules of HTTP about bodies to one connection. First, a client
/// that sends `Expect: 100-continue` is told to send its body. Second, if a
/// request has been answered while its body is still arriving and is not read
/// any more, the rest of the body has the same time limit as a body that is
/// read. Then the connection is closed. A class, because channel handlers are
/// classes.
final class BodyPatience: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private let limit: TimeAmount
    /// The number of requests whose head has arrived and whose answer has not
    /// ended.
    private var unanswered = 0
    private var isBodyArriving = false
    private var closing: Scheduled<Void>?

    init(_ limit: TimeAmount) {
        self.limit = limit
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch Self.unwrapInboundIn(data) {
        case .head(let head):
            unanswered += 1
            isBodyArriving = true
            if Self.awaitsContinue(head) { sendContinue(context) }
        case .body: break
        case .end:
            isBodyArriving = false
            closing?.cancel()
            closing = nil
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .end = Self.unwrapOutboundIn(data) {
            unanswered -= 1
            if unanswered == 0, isBodyArriving { closeLater(context) }
        }
        context.write(data, promise: promise)
    }

    func channelInactive(context: ChannelHandlerContext) {
        closing?.cancel()
        closing = nil
        context.fireChannelInactive()
    }

    private static func awaitsContinue(_ head: HTTPRequestHead) -> Bool {
        (head.version.major, head.version.minor) >= (1, 1)
            && head.headers[canonicalForm: "expect"].contains { $0.lowercased() == "100-continue" }
    }

    private func sendContinue(_ context: ChannelHandlerContext) {
        let head = HTTPResponseHead(version: .http1_1, status: .continue)
        context.writeAndFlush(Self.wrapOutboundOut(.head(head)), promise: nil)
    }

    private func closeLater(_ context: ChannelHandlerContext) {
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        closing = context.eventLoop.scheduleTask(in: limit) {
            bound.value.close(promise: nil)
        }
    }
}
