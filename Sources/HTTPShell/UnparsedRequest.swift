// SPDX-License-Identifier: Apache-2.0

import Commerce
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import StoreWire
import StrictJSON
import WireErrors

/// Answers a request that the parser has given up: like any other error, with
/// JSON and a request id. The library below answers 400 without a body, and does
/// not say what the address was. Where the parser does not know the method, the
/// status is 501 (RFC 9110, 15.6.2), unless the request is refused because of its
/// host. A class, because channel handlers are.
final class UnparsedRequest: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private let answers: UnparsedAnswers
    private let held: HeldHead
    /// The parsed requests that are not answered yet.
    private var owed = 0
    private var mistake = RequestMistake.notHTTP
    /// What the request asks for. Nil if no parser and no ``UnknownHead`` has read it.
    private var target: String?

    init(_ answers: UnparsedAnswers, _ held: HeldHead) {
        (self.answers, self.held) = (answers, held)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .head = Self.unwrapInboundIn(data) { owed += 1 }
        context.fireChannelRead(data)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard error as? HTTPParserError == .invalidMethod else {
            return context.fireErrorCaught(error)
        }
        // The head may arrive in several reads, and is judged as a whole. What
        // is held is on the same event loop.
        held.awaitHead { [self] text in
            let head = UnknownHead(text)
            // Without a first line it is no request, but TLS, for example.
            (mistake, target) = (
                head.isRequest ? judged(context, head) : .notHTTP, head.target
            )
            context.fireErrorCaught(error)
        }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch Self.unwrapOutboundIn(data) {
        case .head where owed == 0:
            let (head, body) = answers.answer(mistake, target)
            context.write(Self.wrapOutboundOut(.head(head)), promise: nil)
            context.write(Self.wrapOutboundOut(.body(.byteBuffer(body))), promise: promise)
            return
        case .end: owed -= 1
        default: break
        }
        context.write(data, promise: promise)
    }

    /// Judges the lines that follow the unknown method.
    private func judged(_ context: ChannelHandlerContext, _ lines: UnknownHead) -> RequestMistake {
        let configuration = answers.shared.configuration
        let hosts = lines.values("host")
        var approach = Approach(
            peer: ClientAddress(context.remoteAddress),
            port: context.localAddress?.port, authority: hosts.first,
            proxies: configuration.proxies
        ) { header in
            let values = lines.values(header.rawValue.lowercased())
            return values.isEmpty ? nil : values.joined(separator: ",")
        }
        approach.hostCount = hosts.count
        do throws(RequestMistake) {
            try configuration.check(approach, isOpen: false)
            return .methodUnknown
        } catch { return error }
    }
}

/// Makes the answers to requests that were not parsed, and logs them. A class,
/// because every connection holds it.
final class UnparsedAnswers: Sendable {
    let shared: ShellShared
    private let handlers: [any RequestHandler]
    private let words: ErrorWords
    private let logger: Logger

    init(
        _ shared: ShellShared, _ handlers: [any RequestHandler], _ words: ErrorWords,
        _ logger: Logger
    ) {
        (self.shared, self.handlers) = (shared, handlers)
        (self.words, self.logger) = (words, logger)
    }

    /// `target`: what the request asks for. Nil if it is unknown.
    func answer(
        _ mistake: RequestMistake, _ target: String?
    ) -> (HTTPResponseHead, ByteBuffer) {
        let reply = ErrorReply(mistake, words)
        var line = RequestLine(method: "", requestID: shared.ports.randomness.uuid())
        (line.status, line.code) = (reply.status, reply.error.code)
        line.count(in: shared.figures)
        line.write(to: logger)
        let body = ByteBuffer(
            bytes: restated(reply, target) ?? (try? StrictJSON.encode(reply.error)) ?? [])
        let headers: HTTPHeaders = [
            "Connection": "close", "Content-Length": "\(body.readableBytes)",
            "Content-Type": "application/json", ShellHeader.requestID.rawValue: line.requestID,
        ]
        let status = HTTPResponseStatus(statusCode: reply.status)
        return (HTTPResponseHead(version: .http1_1, status: status, headers: headers), body)
    }

    /// The body in the form that the clients of the address expect. Nil for the shell's.
    private func restated(_ reply: ErrorReply, _ target: String?) -> [UInt8]? {
        guard let path = target.map({ URI($0).path }) else { return nil }
        for handler in handlers {
            if let body = handler.unparsedBody(status: reply.status, path: path) { return body }
        }
        return nil
    }
}
