// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHTTP1

/// Two rules of HTTP about bodies, of one connection. A client that asks with
/// `Expect: 100-continue` is told to send its body. A body that is still on its
/// way when its request has been answered, and that nobody reads any more, may
/// take no longer than one that is read: then the connection is closed. A
/// class, because channel handlers are.
final class BodyPatience: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private let limit: TimeAmount
    /// Requests whose head came and whose answer has not ended.
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
