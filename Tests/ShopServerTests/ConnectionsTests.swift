// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logging
import NIOCore
import NIOEmbedded
import NIOHTTP1
import NIOPosix
import Shop
import ShopServer
import StoreWire
import Synchronization
import Testing

@testable import HTTPShell

/// How many connections a server has room for, and what it does at the end.
@Suite(.timeLimit(.minutes(5))) struct ConnectionsTests {
    @Test(arguments: [
        (256, 128, 128, 96), (1024, 256, 768, 576), (4096, 1024, 3072, 2304),
        (1_048_576, 1024, 16_384, 12_288),
    ])
    func `connections leave descriptors to the rest`(
        limit: Int, reserve: Int, connections: Int, waiting: Int
    ) throws {
        var configuration = try ShellConfiguration()
        let descriptors = try Descriptors(limit: limit)

        let isLowered = configuration.fit(into: descriptors)

        #expect(descriptors.reserve == reserve)
        #expect(configuration.connectionsMax == connections)
        #expect(configuration.waitingMax == waiting)
        #expect(isLowered == (limit < 17_408))
        #expect(configuration.descriptors == descriptors)
    }

    @Test func `a limit that leaves no room is reported with its remedy`() {
        let refused = #expect(throws: WireError.self) { try Descriptors(limit: 255) }
        #expect(refused?.code == "descriptorsTooFew")
        #expect(refused?.rule != nil && refused?.remedy?.contains("ulimit -n") == true)
    }

    @Test func `there are only so many places to wait in, whoever asks`() throws {
        let places = WaitingPlaces()
        try places.take(max: 2, shares: [.customer("a"): 5])
        try places.take(max: 2, shares: [.customer("b"): 5])

        #expect(throws: RequestMistake.tooManyWaiting) {
            try places.take(max: 2, shares: [.customer("c"): 5])
        }
        places.giveBack([.customer("a"): 5])
        try places.take(max: 2, shares: [.customer("c"): 5])
        #expect(places.count == 2)
    }

    @Test func `a server is not ready while hardly a place is free`() {
        let connections = Connections(max: 100)
        for _ in 1...95 { connections.opened() }
        #expect(!connections.isNearlyFull && connections.hasRoom)
        connections.opened()
        #expect(connections.isNearlyFull && connections.hasRoom)
        for _ in 1...4 { connections.opened() }
        #expect(!connections.hasRoom)
        for _ in 1...5 { connections.closed() }
        #expect(!connections.isNearlyFull)
    }

    @Test func `all ports share the connections, and one gets what another gives up`()
        async throws
    {
        let health = "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
        try await TestServer.with(configure: {
            $0.connectionsMax = 1
            $0.listeners = [try .init(name: "test-1", port: 0)]
        }) { server in
            let other = try #require(server.realmPorts["test-1"])
            var first: RawConnection? = try RawConnection(port: server.port)
            try first?.send(health)
            _ = await first?.receive { $0.contains("ok") }
            // A port that had room when it last looked takes one more.
            var second: RawConnection? = try RawConnection(port: other)
            try second?.send("GET /ready HTTP/1.1\r\nHost: localhost\r\n\r\n")
            let full = await second?.receive { $0.contains("notReady") }
            let third = try RawConnection(port: other)
            try third.send(health)
            // However long it waits, it is not accepted while all places are taken.
            var counted: [String] = []
            for _ in 1...20 {
                try first?.send("GET /ready HTTP/1.1\r\nHost: localhost\r\n\r\n")
                counted.append(await first?.receive { $0.contains("are open") } ?? "")
            }

            second = nil
            first = nil

            #expect(full?.hasPrefix("HTTP/1.1 503") == true)
            #expect(full?.contains("2 of 1 connections are open") == true)
            #expect(counted.allSatisfy { $0.contains("2 of 1 connections are open") })
            #expect(await third.receive { $0.contains("ok") }.hasPrefix("HTTP/1.1 200"))
        }
    }

    /// A body would be taken for the beginning of the next answer.
    @Test func `an answer to HEAD has no body`() async throws {
        try await TestServer.with { server in
            let client = try RawConnection(port: server.port)
            try client.send(
                "HEAD /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
                    + "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
            let answers = await client.receive { $0.contains(#""status":"ok""#) }

            let parts = answers.components(separatedBy: "HTTP/1.1 ")
            #expect(parts.count == 3)
            #expect(parts[1].hasPrefix("405") && parts[1].hasSuffix("\r\n\r\n"), "\(answers)")
        }
    }

    @Test func `the metrics show how close the limits are`() async throws {
        try await TestServer.with(configure: {
            _ = $0.fit(into: try Descriptors(limit: 8192))
        }) { server in
            let key = try await server.store.doorKey(.metrics)
            let figures = try await server.send("GET", "/metrics", bearer: key).text

            #expect(figures.contains("\nshopkeeper_connections 1\n"))
            #expect(figures.contains("\nshopkeeper_connections_max 7168\n"))
            #expect(figures.contains("\nprocess_max_fds 8192\n"))
        }
    }

    @Test(arguments: [true, false])
    func `an answered request's body is waited for, unless it has come to its end`(
        hasEnded: Bool
    ) throws {
        let channel = EmbeddedChannel(handlers: [BodyPatience(.seconds(1))])
        channel.connect(to: try SocketAddress(unixDomainSocketPath: "/a"), promise: nil)
        let head = HTTPRequestHead(version: .http1_1, method: .POST, uri: "/")

        try channel.writeInbound(HTTPServerRequestPart.head(head))
        try channel.writeOutbound(HTTPServerResponsePart.end(nil))
        if hasEnded { try channel.writeInbound(HTTPServerRequestPart.end(nil)) }
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))

        #expect(channel.isActive == hasEnded)
        _ = try? channel.finish()
    }

    @Test func `a server's port survives that there are no descriptors`() async throws {
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(host: "127.0.0.1", port: 0) { child in
                child.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: child)
                }
            }
        let port = try #require(server.channel.localAddress?.port)
        await HTTPShell.prepare(
            server.channel, Connections(max: 10),
            Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })

        try await server.executeThenClose { accepted in
            // The client waits at the port, so that reading at once would fail again.
            let reads = try await server.channel.eventLoop.submit {
                server.channel.pipeline.fireErrorCaught(
                    IOError(errnoCode: EMFILE, reason: "accept"))
                return try server.channel.syncOptions?.getOption(.autoRead)
            }.get()
            #expect(reads == false)
            let client = try RawConnection(port: port)
            var waiting = accepted.makeAsyncIterator()
            let child = try #require(try await waiting.next())
            try await child.channel.close()
            withExtendedLifetime(client) {}
        }
    }

    @Test func `a port without descriptors pauses, and then accepts again`() throws {
        let reads = ReadCounter()
        let errors = ErrorCounter()
        let channel = EmbeddedChannel(handlers: [
            reads, AcceptPause(logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }),
            errors,
        ])
        let before = reads.count

        channel.pipeline.fireErrorCaught(IOError(errnoCode: EMFILE, reason: "accept"))
        channel.read()
        #expect(reads.count == before)
        #expect(channel.options.map { $0.value as? Bool } == [false])
        channel.embeddedEventLoop.advanceTime(by: AcceptPause.pause)
        #expect(reads.count > before)
        #expect(channel.options.map { $0.value as? Bool } == [true])
        let after = reads.count
        channel.read()
        #expect(reads.count == after + 1)

        #expect(errors.count == 0)
        channel.pipeline.fireErrorCaught(IOError(errnoCode: ECONNABORTED, reason: "accept"))
        #expect(errors.count == 1)
        _ = try? channel.finish()
    }
}

private final class ReadCounter: ChannelOutboundHandler {
    typealias OutboundIn = Never
    private(set) var count = 0

    func read(context: ChannelHandlerContext) {
        count += 1
        context.read()
    }
}

private final class ErrorCounter: ChannelInboundHandler {
    typealias InboundIn = Never
    private(set) var count = 0

    func errorCaught(context: ChannelHandlerContext, error: any Error) { count += 1 }
}
