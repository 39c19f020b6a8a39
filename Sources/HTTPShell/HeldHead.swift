// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHTTP1

/// Passes a connection's bytes to the parser, and remembers those of the present
/// read. Where the parser has given up before the end of a request's head, holds
/// what follows until the head is complete, so that it can be judged as a whole.
/// A class, because channel handlers are.
final class HeldHead: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private static let bytesMax = 81_920
    private static let shortBytes = 512

    private var buffer: ByteBuffer?
    private var onEnd: ((String) -> Void)?
    /// How many of the held bytes were searched for an empty line.
    private var seen = 0

    /// Calls `onEnd` with the text of the present read and of all that follow,
    /// up to the end of the unknown request's head: now, or when it has arrived
    /// or cannot arrive any more.
    func awaitHead(_ onEnd: @escaping (String) -> Void) {
        self.onEnd = onEnd
        endIfComplete()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = Self.unwrapInboundIn(data)
        if onEnd != nil {
            buffer?.writeBuffer(&bytes)
            return endIfComplete()
        }
        buffer = bytes
        context.fireChannelRead(data)
        if onEnd == nil { buffer = nil }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        // Nothing that follows sees bytes for which it could ask for more.
        if onEnd != nil { context.read() }
        context.fireChannelReadComplete()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event as? ChannelEvent == .inputClosed { end() }
        context.fireUserInboundEventTriggered(event)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        (onEnd, buffer) = (nil, nil)
    }

    private var text: String {
        String(decoding: buffer?.readableBytesView.prefix(Self.bytesMax) ?? [], as: UTF8.self)
    }

    /// Looks at the whole text first, while it is short, and where a line is empty,
    /// so that a head in single bytes costs no more than another.
    private func endIfComplete() {
        guard let bytes = buffer?.readableBytesView, bytes.count < Self.bytesMax else {
            return end()
        }
        let isNew = seen == 0 || bytes.count < Self.shortBytes
        if hasNewEmptyLine(bytes) || isNew, !UnknownHead(text).mayGoOn { end() }
    }

    private func hasNewEmptyLine(_ bytes: ByteBufferView) -> Bool {
        let ends = bytes.dropFirst(max(seen - 2, 0)).filter { $0 != UInt8(ascii: "\r") }
        seen = bytes.count
        return zip(ends, ends.dropFirst()).contains {
            $0 == UInt8(ascii: "\n") && $0 == $1
        }
    }

    private func end() {
        guard let onEnd else { return }
        let text = text
        (self.onEnd, buffer) = (nil, nil)
        onEnd(text)
    }
}

/// The head of a request with an unknown method, which no parser has read: of the
/// first such request in a text.
struct UnknownHead {
    /// What the request asks for. Nil if its first line is not there.
    private(set) var target: String?
    /// Whether its first line is there.
    private(set) var isRequest = false
    private var lines: [(name: String, value: String)] = []
    /// Whether the text may be the beginning of such a head, without its end.
    private(set) var mayGoOn: Bool

    init(_ text: String) {
        let rows = text.split(omittingEmptySubsequences: false) { $0 == "\r\n" || $0 == "\n" }
        guard let start = rows.indices.first(where: { Self.isStart(rows, $0) }) else {
            let last = rows.lastIndex(where: \.isEmpty) ?? -1
            let rest = rows[(last + 1)...]
            mayGoOn = rest.count <= 1 && Self.mayBecomeStart(rest.last ?? "")
            return
        }
        (mayGoOn, isRequest) = (true, true)
        let words = rows[start].split(separator: " ")
        target = words.count > 2 ? String(words[1]) : nil
        for (index, row) in rows.enumerated().dropFirst(start + 1) {
            guard let colon = row.firstIndex(of: ":") else {
                // What follows the last line feed may become a line.
                mayGoOn = index == rows.count - 1
                return
            }
            let value = row[row.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
            lines.append((row[..<colon].lowercased(), String(value)))
        }
    }

    func values(_ name: String) -> [String] { lines.filter { $0.name == name }.map(\.value) }

    /// Whether a row begins a request, with a method that the parser does not
    /// know.
    private static func isStart(_ rows: [Substring], _ index: Int) -> Bool {
        let row = rows[index]
        guard index == 0 || rows[index - 1].isEmpty, row.contains(" HTTP/") else { return false }
        return HTTPMethod(rawValue: String(row.prefix { $0 != " " })).isUnknown
    }

    /// Whether more bytes may make a row such a beginning.
    private static func mayBecomeStart(_ row: Substring) -> Bool {
        let method = row.prefix { $0 != " " }
        return !row.isEmpty && method.utf8.allSatisfy(isTokenByte)
    }

    private static func isTokenByte(_ byte: UInt8) -> Bool {
        (0x21...0x7E).contains(byte) && !"\"(),/:;<=>?@[\\]{}".utf8.contains(byte)
    }
}

extension HTTPMethod {
    fileprivate var isUnknown: Bool { if case .RAW = self { true } else { false } }
}
