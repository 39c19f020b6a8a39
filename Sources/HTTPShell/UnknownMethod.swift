// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHTTP1

/// Answers 501 where the parser does not know a request's method (RFC 9110,
/// 15.6.2). The library below answers 400 to every request that it cannot parse.
/// A request that is refused because of its host, whatever its method, keeps
/// that status. A class, because channel handlers are.
final class UnknownMethod: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private let configuration: ShellConfiguration
    private let held: HeldHead
    /// The parsed requests that are not answered yet.
    private var owed = 0
    private var status: HTTPResponseStatus?

    init(_ configuration: ShellConfiguration, _ held: HeldHead) {
        (self.configuration, self.held) = (configuration, held)
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
            status = answer(context, UnknownHead(text))
            context.fireErrorCaught(error)
        }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        var data = data
        switch Self.unwrapOutboundIn(data) {
        case .head(var head):
            guard let status, owed == 0 else { break }
            head.status = status
            data = Self.wrapOutboundOut(.head(head))
        case .end: owed -= 1
        default: break
        }
        context.write(data, promise: promise)
    }

    /// Judges the lines that follow the unknown method.
    private func answer(
        _ context: ChannelHandlerContext, _ lines: UnknownHead
    ) -> HTTPResponseStatus {
        let hosts = lines.values("host")
        var approach = Approach(
            peer: context.remoteAddress?.ipAddress.flatMap(ClientAddress.init),
            port: context.localAddress?.port, authority: hosts.first,
            proxies: configuration.proxies
        ) { name in
            let values = lines.values(name.lowercased())
            return values.isEmpty ? nil : values.joined(separator: ",")
        }
        approach.hostCount = hosts.count
        do throws(RequestMistake) {
            try configuration.check(approach, isOpen: false)
            return .notImplemented
        } catch {
            switch error {
            case .hostUnknown: return .misdirectedRequest
            case .originForeign: return .forbidden
            default: return .badRequest
            }
        }
    }
}
