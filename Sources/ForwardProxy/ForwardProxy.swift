// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// A forward proxy on loopback, for the processes of one job. It tunnels
/// `CONNECT`, and passes on plain requests with an absolute address. Where a
/// request goes, and whether it goes anywhere, is decided by a function. It
/// reads nothing of what a tunnel carries, and needs no TLS library.
///
/// ```swift
/// let proxy = try await ForwardProxy.start { target in
///     target.host == "api.example" ? .connect(host: "127.0.0.1", port: 8443)
///         : .refuse("\(target.host) is not reachable from here.")
/// }
/// ```
///
/// A class, because it owns sockets until ``stop()``.
public final class ForwardProxy: Sendable {
    /// What a client wants to reach.
    public struct Target: Hashable, Sendable {
        /// In lower case, without brackets and without a dot at the end.
        public let host: String
        public let port: Int
        /// Whether it asks for a tunnel, or for one plain request.
        public let isTunnel: Bool

        public init(host: String, port: Int, isTunnel: Bool) {
            (self.host, self.port, self.isTunnel) = (host, port, isTunnel)
        }
    }

    /// Where a request goes.
    public enum Route: Hashable, Sendable {
        case connect(host: String, port: Int)
        /// 403 with one sentence.
        case refuse(String)
    }

    /// The limits of the proxy.
    public struct Limits: Sendable {
        /// The most connections of clients. As many again are answered 503, and
        /// further ones are closed.
        public var connectionsMax = 128
        /// The most bytes of the lines of a head together.
        public var headBytesMax = 16 * 1024
        /// The most lines of a head.
        public var headLinesMax = 100
        /// How long a client may take to send a request's head.
        public var headMilliseconds: Int64 = 15_000
        /// How long the other side may take to accept a connection.
        public var connectMilliseconds: Int64 = 10_000
        /// How long nothing may cross a connection.
        public var idleMilliseconds: Int64 = 300_000

        public init() {}
    }

    /// The port at 127.0.0.1.
    public let port: Int
    private let server: any Channel
    private let clients: Clients

    /// The number of open connections of clients.
    public var count: Int { clients.count }

    /// Listens on a free port of 127.0.0.1. `route` decides about each request,
    /// and must not block.
    public static func start(
        limits: Limits = Limits(), route: @escaping @Sendable (Target) -> Route
    ) async throws -> ForwardProxy {
        let clients = Clients()
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(ChannelOptions.backlog, value: 256)
            .childChannelOption(ChannelOptions.allowRemoteHalfClosure, value: true)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try prepare(channel, clients, limits, route)
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        return ForwardProxy(server, clients)
    }

    private init(_ server: any Channel, _ clients: Clients) {
        (self.server, self.clients) = (server, clients)
        port = server.localAddress?.port ?? 0
    }

    /// Closes the port and all connections.
    public func stop() async {
        try? await server.close()
        await clients.closeAll()
    }

    private static func prepare(
        _ channel: any Channel, _ clients: Clients, _ limits: Limits,
        _ route: @escaping @Sendable (Target) -> Route
    ) throws {
        let place = clients.add(channel)
        var head = NIOHTTPDecoderLimitConfiguration()
        head.maxHeaderFieldSize = limits.headBytesMax
        head.maxHeaderListSize = limits.headBytesMax
        head.maxHeaderFieldCount = limits.headLinesMax
        let decoder = ByteToMessageHandler(
            HTTPRequestDecoder(leftOverBytesStrategy: .forwardBytes, limitConfiguration: head))
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandlers([
            IdleStateHandler(allTimeout: .milliseconds(limits.idleMilliseconds)), decoder,
            ProxiedClient(decoder, limits, isAdmitted: place <= limits.connectionsMax, route),
        ])
        if place > limits.connectionsMax * 2 { channel.close(promise: nil) }
    }
}

/// The connections of clients. A class, because they share it.
final class Clients: Sendable {
    private struct State {
        var channels: [ObjectIdentifier: any Channel] = [:]
        var isClosed = false
    }

    private let state = Mutex(State())

    var count: Int { state.withLock(\.channels.count) }

    /// Counts a connection until it closes, also one that is refused, because its
    /// answer needs a moment. Returns the number of all.
    func add(_ channel: any Channel) -> Int {
        let id = ObjectIdentifier(channel)
        let (count, isClosed) = state.withLock { state in
            state.channels[id] = channel
            return (state.channels.count, state.isClosed)
        }
        channel.closeFuture.whenComplete { [self] _ in
            state.withLock { _ = $0.channels.removeValue(forKey: id) }
        }
        return isClosed ? .max : count
    }

    func closeAll() async {
        let open = state.withLock { state in
            state.isClosed = true
            return Array(state.channels.values)
        }
        for channel in open { try? await channel.close() }
    }
}
