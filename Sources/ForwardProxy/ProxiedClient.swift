// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHTTP1
import NIOPosix

/// One connection of a client: reads the head of its request, connects to where
/// it goes, and joins the two connections. A connection serves one request or
/// one tunnel. A class, because channel handlers are.
final class ProxiedClient: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPClientRequestPart
    typealias OutboundIn = Never
    typealias OutboundOut = ByteBuffer

    private enum State {
        case reading
        /// Nothing more is read until the other side has accepted.
        case connecting
        /// A plain request is passed on, up to its end.
        case forwarding
        /// Whatever else arrives is dropped.
        case ended
    }

    /// How long a client may take to close after a refusal.
    private static let farewell = TimeAmount.seconds(5)

    private let decoder: ByteToMessageHandler<HTTPRequestDecoder>
    private let limits: ForwardProxy.Limits
    private let isAdmitted: Bool
    private let route: (ForwardProxy.Target) -> ForwardProxy.Route
    private var state = State.reading
    private var isReadHeld = false
    private var patience: Scheduled<Void>?
    /// What arrived of a plain request before the other side has accepted: the
    /// rest of one read at most.
    private var early: [HTTPClientRequestPart] = []
    /// Whether this has the request's end. What follows belongs to no request.
    private var isWhole = false

    init(
        _ decoder: ByteToMessageHandler<HTTPRequestDecoder>, _ limits: ForwardProxy.Limits,
        isAdmitted: Bool, _ route: @escaping (ForwardProxy.Target) -> ForwardProxy.Route
    ) {
        self.decoder = decoder
        self.limits = limits
        self.isAdmitted = isAdmitted
        self.route = route
    }

    func channelActive(context: ChannelHandlerContext) {
        closeLater(context, in: .milliseconds(limits.headMilliseconds))
        if !isAdmitted {
            refuse(context, 503, "The proxy has as many connections as it may have.")
        }
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch (Self.unwrapInboundIn(data), state) {
        case (.head(let head), .reading): begin(context, head)
        case (.body(let bytes), .connecting):
            if !isWhole { early.append(.body(.byteBuffer(bytes))) }
        case (.body(let bytes), .forwarding):
            context.fireChannelRead(Self.wrapInboundOut(.body(.byteBuffer(bytes))))
        case (.end(let trailers), .connecting):
            if !isWhole { early.append(.end(trailers)) }
            isWhole = true
        case (.end(let trailers), .forwarding):
            state = .ended
            context.fireChannelRead(Self.wrapInboundOut(.end(trailers)))
        default: break
        }
    }

    func read(context: ChannelHandlerContext) {
        if state == .connecting { isReadHeld = true } else { context.read() }
    }

    func channelInactive(context: ChannelHandlerContext) {
        patience?.cancel()
        state = .ended
        context.fireChannelInactive()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // Before its request is complete, and after a refusal, nothing more is to
        // be done for a client that has closed its side.
        let isGone = event as? ChannelEvent == .inputClosed && !isJoined
        if isGone || event is IdleStateHandler.IdleStateEvent {
            context.close(promise: nil)
        } else {
            context.fireUserInboundEventTriggered(event)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard state == .reading, error is HTTPParserError else {
            // What follows a refusal is dropped, whatever it is.
            if state != .ended || isJoined || error is IOError { context.close(promise: nil) }
            return
        }
        let isLong = error as? HTTPParserError == .headerOverflow
        refuse(
            context, isLong ? 431 : 400,
            isLong ? "The head of the request is too long." : "This is no HTTP/1.1 request.")
    }

    /// Whether the client's connection is joined to another one.
    private var isJoined = false

    private func begin(_ context: ChannelHandlerContext, _ head: HTTPRequestHead) {
        patience?.cancel()
        switch ProxyRequest(head) {
        case .wrong(let sentence): refuse(context, 400, sentence)
        case .tunnel(let target): connect(context, target, nil)
        case .plain(let target, let path, let authority):
            connect(context, target, head.forwarded(path: path, authority: authority))
        }
    }

    /// `plain`: the request to send on. Nil for a tunnel.
    private func connect(
        _ context: ChannelHandlerContext, _ target: ForwardProxy.Target, _ plain: HTTPRequestHead?
    ) {
        guard case .connect(let host, let port) = route(target) else {
            if case .refuse(let sentence) = route(target) { refuse(context, 403, sentence) }
            return
        }
        state = .connecting
        ClientBootstrap(group: context.eventLoop)
            .connectTimeout(.milliseconds(limits.connectMilliseconds))
            .channelOption(ChannelOptions.allowRemoteHalfClosure, value: true)
            .channelInitializer { [isTunnel = plain == nil] channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    if !isTunnel { try pipeline.addHandler(HTTPRequestEncoder()) }
                    try pipeline.addHandler(Joint())
                }
            }
            .connect(host: host, port: port).assumeIsolated()
            .whenComplete { [self] result in
                switch result {
                case .success(let other): connected(context, to: other, plain)
                case .failure:
                    refuse(context, 502, "\(target.host):\(target.port) does not accept.")
                }
            }
    }

    private func connected(
        _ context: ChannelHandlerContext, to other: any Channel, _ plain: HTTPRequestHead?
    ) {
        // The client may have gone in the meantime.
        guard state == .connecting, context.channel.isActive else {
            return other.close(promise: nil)
        }
        do {
            let own = Joint()
            let remote = try other.pipeline.syncOperations.handler(type: Joint.self)
            try context.pipeline.syncOperations.addHandler(own, position: .after(self))
            own.join(remote)
            isJoined = true
            if let plain {
                pass(context, plain)
            } else {
                tunnel(context)
            }
        } catch {
            other.close(promise: nil)
            context.close(promise: nil)
        }
    }

    private func pass(_ context: ChannelHandlerContext, _ head: HTTPRequestHead) {
        state = .forwarding
        for part in [HTTPClientRequestPart.head(head)] + early {
            if case .end = part { state = .ended }
            context.fireChannelRead(Self.wrapInboundOut(part))
        }
        early = []
        context.fireChannelReadComplete()
        readOn(context)
    }

    /// Answers, and takes the parser out. What it has already read of the tunnel
    /// goes to the other side.
    private func tunnel(_ context: ChannelHandlerContext) {
        state = .ended
        let answer = "HTTP/1.1 200 Connection established\r\n\r\n"
        context.writeAndFlush(Self.wrapOutboundOut(ByteBuffer(string: answer)), promise: nil)
        let channel = context.channel
        context.pipeline.syncOperations.removeHandler(self, promise: nil)
        channel.pipeline.syncOperations.removeHandler(decoder).assumeIsolated().whenComplete { _ in
            channel.pipeline.fireChannelReadComplete()
            channel.read()
        }
    }

    private func readOn(_ context: ChannelHandlerContext) {
        if isReadHeld { context.read() }
        isReadHeld = false
    }

    /// Answers with one sentence, and closes when the client has read it. What
    /// the client still sends is dropped.
    private func refuse(_ context: ChannelHandlerContext, _ status: Int, _ sentence: String) {
        guard state != .ended, !isJoined else { return }
        state = .ended
        early = []
        let words = HTTPResponseStatus(statusCode: status).reasonPhrase
        let body = sentence + "\n"
        let answer = """
            HTTP/1.1 \(status) \(words)\r
            Content-Type: text/plain; charset=utf-8\r
            Content-Length: \(body.utf8.count)\r
            Connection: close\r
            \r
            \(body)
            """
        context.writeAndFlush(Self.wrapOutboundOut(ByteBuffer(string: answer)))
            .assumeIsolated().whenComplete { _ in context.close(mode: .output, promise: nil) }
        closeLater(context, in: Self.farewell)
        readOn(context)
    }

    private func closeLater(_ context: ChannelHandlerContext, in time: TimeAmount) {
        patience?.cancel()
        patience = context.eventLoop.assumeIsolated().scheduleTask(in: time) {
            context.close(promise: nil)
        }
    }
}
