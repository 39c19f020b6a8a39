// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOPosix
import Synchronization

/// A connection whose bytes a test writes and reads. A class, because channel
/// handlers are.
final class Peer: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer

    private struct State {
        var bytes: [UInt8] = []
        var hasEnded = false
        var channel: (any Channel)?
    }

    private let state = Mutex(State())
    /// Whether what arrives is sent back.
    private let echoes: Bool

    private init(echoes: Bool = false) { self.echoes = echoes }

    /// What has arrived.
    var bytes: [UInt8] { state.withLock(\.bytes) }
    var text: String { String(decoding: bytes, as: UTF8.self) }
    /// Whether the other side has closed.
    var hasEnded: Bool { state.withLock(\.hasEnded) }

    static func connect(_ port: Int, _ text: String = "") async throws -> Peer {
        let peer = Peer()
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelOption(ChannelOptions.allowRemoteHalfClosure, value: true)
            .channelInitializer { $0.pipeline.addHandler(peer) }
            .connect(host: "127.0.0.1", port: port).get()
        peer.state.withLock { $0.channel = channel }
        if !text.isEmpty { try await peer.send(text) }
        return peer
    }

    /// A server that sends back what it receives.
    static func echo() async throws -> any Channel {
        try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelOption(ChannelOptions.allowRemoteHalfClosure, value: true)
            .childChannelInitializer { $0.pipeline.addHandler(Peer(echoes: true)) }
            .bind(host: "127.0.0.1", port: 0).get()
    }

    func send(_ text: String) async throws { try await send(Array(text.utf8)) }

    func send(_ bytes: [UInt8]) async throws {
        try await state.withLock(\.channel)?.writeAndFlush(ByteBuffer(bytes: bytes))
    }

    /// Says that nothing more will be sent.
    func finish() async throws { try await state.withLock(\.channel)?.close(mode: .output) }

    func close() { state.withLock(\.channel)?.close(promise: nil) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let buffer = Self.unwrapInboundIn(data)
        if echoes { context.writeAndFlush(data, promise: nil) }
        if !echoes { state.withLock { $0.bytes += buffer.readableBytesView } }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard event as? ChannelEvent == .inputClosed else { return }
        state.withLock { $0.hasEnded = true }
        if echoes { context.close(mode: .output, promise: nil) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        state.withLock { $0.hasEnded = true }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}
