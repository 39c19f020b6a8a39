// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOPosix
import NIOSSL
import Synchronization

/// A client with TLS that trusts one root. Without a name it speaks plainly. A
/// class, because channel handlers are.
final class SecureClient: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer

    private struct State {
        var text = ""
        var hasEnded = false
        var failure: String?
        var channel: (any Channel)?
    }

    private let state = Mutex(State())

    var text: String { state.withLock(\.text) }
    var hasEnded: Bool { state.withLock(\.hasEnded) }
    var failure: String? { state.withLock(\.failure) }

    static func connect(_ port: Int, as name: String?, root: String) async throws -> SecureClient {
        let client = SecureClient()
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.trustRoots = .certificates(
            try NIOSSLCertificate.fromPEMBytes(Array(root.utf8)))
        let context = try NIOSSLContext(configuration: configuration)
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    if let name {
                        // An address is compared with the certificate's, and sent as no name.
                        let isAddress = name.utf8.first.map { (48...57).contains($0) } ?? false
                        try pipeline.addHandler(
                            NIOSSLClientHandler(
                                context: context, serverHostname: isAddress ? nil : name))
                    }
                    try pipeline.addHandler(client)
                }
            }
            .connect(host: "127.0.0.1", port: port).get()
        client.state.withLock { $0.channel = channel }
        return client
    }

    func send(_ text: String) async throws {
        try await state.withLock(\.channel)?.writeAndFlush(ByteBuffer(string: text))
    }

    func finish() { state.withLock(\.channel)?.close(mode: .output, promise: nil) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let text = String(buffer: Self.unwrapInboundIn(data))
        state.withLock { $0.text += text }
    }

    func channelInactive(context: ChannelHandlerContext) {
        state.withLock { $0.hasEnded = true }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        state.withLock { $0.failure = "\(error)" }
        context.close(promise: nil)
    }
}
