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
    private let bytes: LastBytes
    /// The parsed requests that are not answered yet.
    private var owed = 0
    private var status: HTTPResponseStatus?

    init(_ configuration: ShellConfiguration, _ bytes: LastBytes) {
        (self.configuration, self.bytes) = (configuration, bytes)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .head = Self.unwrapInboundIn(data) { owed += 1 }
        context.fireChannelRead(data)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if error as? HTTPParserError == .invalidMethod { status = answer(context) }
        context.fireErrorCaught(error)
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

    /// Judges the lines that follow the unknown method, as far as they have
    /// arrived.
    private func answer(_ context: ChannelHandlerContext) -> HTTPResponseStatus {
        let lines = HeadLines(bytes.text)
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

/// Keeps the bytes that the parser reads, while it reads them. A class, because
/// channel handlers are.
final class LastBytes: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private static let bytesMax = 65_536

    private var buffer: ByteBuffer?

    var text: String {
        guard let buffer else { return "" }
        return String(decoding: buffer.readableBytesView.prefix(Self.bytesMax), as: UTF8.self)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        buffer = Self.unwrapInboundIn(data)
        context.fireChannelRead(data)
        buffer = nil
    }
}

/// The lines of a request's head that no parser has read: of the last request in
/// a text.
private struct HeadLines {
    private var lines: [(name: String, value: String)] = []

    init(_ text: String) {
        let rows = text.split(omittingEmptySubsequences: false) { $0 == "\r\n" || $0 == "\n" }
        guard let start = rows.lastIndex(where: { $0.contains(" HTTP/") }) else { return }
        for row in rows[(start + 1)...] {
            guard let colon = row.firstIndex(of: ":") else { return }
            let value = row[row.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
            lines.append((row[..<colon].lowercased(), String(value)))
        }
    }

    func values(_ name: String) -> [String] { lines.filter { $0.name == name }.map(\.value) }
}
