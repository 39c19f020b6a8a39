// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A proxy to a PostgreSQL server that can cut connections at any message. It
/// uses loopback and plain threads. Clients connect with ``conninfo``.
public final class CuttingProxy: Sendable {
    /// One message of PostgreSQL's protocol.
    public struct Message: Sendable {
        public let isToServer: Bool
        /// The message's type letter. A connection's first message has none.
        public let type: Character?
        /// From 1, across all connections, since the rule was set.
        public let number: Int
        public let bytes: [UInt8]

        /// Whether it contains this text: `COMMIT`.
        public func says(_ words: String) -> Bool {
            String(decoding: bytes, as: UTF8.self).contains(words)
        }

        /// A cancel request has a special number and no letter.
        public var isCancelRequest: Bool {
            isToServer && type == nil && bytes.count == 16 && bytes[4...7] == [4, 210, 22, 46]
        }
    }

    /// What the proxy does with a message and its connection.
    public enum Fate: String, CaseIterable, Sendable {
        case pass, cutBefore, cutDuring, cutAfter
        /// From this message on nothing passes, and the connection stays open.
        case silence
        /// Holds this message and the following ones until ``release()``.
        case hold
    }

    public typealias Rule = @Sendable (Message) -> Fate

    private struct State {
        var socketPath: String
        var rule: Rule = { _ in .pass }
        var messages = 0
        var cancelRequests = 0
        var connections = 0
        var isReleased = false
        var silent: [Link] = []
    }

    public let conninfo: String
    private let listener: Int32
    private let state: Mutex<State>
    private let gate = NSCondition()
    private let heldMessages: AsyncStream<Void>
    private let tellHeld: AsyncStream<Void>.Continuation

    public var messages: Int { state.withLock { $0.messages } }
    public var cancelRequests: Int { state.withLock { $0.cancelRequests } }
    public var connections: Int { state.withLock { $0.connections } }

    public init(to cluster: PostgresCluster) throws {
        var port: UInt16 = 0
        (listener, port) = try Loopback.listen()
        state = Mutex(State(socketPath: cluster.socket))
        conninfo =
            "host=127.0.0.1 port=\(port) user=postgres dbname=postgres sslmode=disable "
            + "gssencmode=disable"
        (heldMessages, tellHeld) = AsyncStream.makeStream(of: Void.self)
        let listener = listener
        Thread.detachNewThread { [weak self] in
            while true {
                let client = accept(listener, nil, nil)
                guard client >= 0 else { return }
                guard let self else {
                    close(client)
                    return
                }
                self.serve(client)
            }
        }
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }

    /// Counts messages from 1 again and applies this rule from now on.
    public func obey(_ rule: @escaping Rule) {
        state.withLock {
            $0.rule = rule
            $0.messages = 0
            $0.cancelRequests = 0
            $0.isReleased = false
        }
    }

    /// Cuts at the message with this number.
    public func cut(message number: Int, _ fate: Fate) {
        obey { $0.number == number ? fate : .pass }
    }

    public func pass() { obey { _ in .pass } }

    /// Connections made from now on lead to another server.
    public func lead(to cluster: PostgresCluster) {
        state.withLock { $0.socketPath = cluster.socket }
    }

    /// Waits until a message is held.
    public func holding() async {
        _ = await first(of: heldMessages, "a message that the proxy holds")
    }

    /// Releases held messages, and closes connections that were silent.
    public func release() {
        let silent = gate.withLock {
            gate.broadcast()
            return state.withLock { state in
                state.isReleased = true
                state.rule = { _ in .pass }
                defer { state.silent = [] }
                return state.silent
            }
        }
        for link in silent { link.cut() }
    }

    // MARK: Threads

    private func serve(_ client: Int32) {
        let socketPath = state.withLock {
            $0.connections += 1
            return $0.socketPath
        }
        guard let server = Self.connect(socketPath) else {
            close(client)
            return
        }
        // Messages are sent one by one. Nagle's algorithm would delay them.
        var isOn: Int32 = 1
        setsockopt(
            client, Int32(IPPROTO_TCP), TCP_NODELAY, &isOn, socklen_t(MemoryLayout<Int32>.size))
        let link = Link(client: client, server: server)
        Thread.detachNewThread { self.pump(link, isToServer: true) }
        Thread.detachNewThread { self.pump(link, isToServer: false) }
    }

    private func pump(_ link: Link, isToServer: Bool) {
        var reader = MessageReader(isFirst: isToServer)
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let source = isToServer ? link.client : link.server
        while true {
            let count = read(source, &buffer, buffer.count)
            guard count > 0 else { return link.cut() }
            reader.take(buffer[..<count])
            while let (type, bytes) = reader.next() {
                guard pass(type, bytes, isToServer, link) else { return link.cut() }
            }
        }
    }

    /// Returns false if the connection is to be cut.
    private func pass(
        _ type: Character?, _ bytes: [UInt8], _ isToServer: Bool, _ link: Link
    ) -> Bool {
        let fate = state.withLock { state -> Fate in
            state.messages += 1
            let message = Message(
                isToServer: isToServer, type: type, number: state.messages, bytes: bytes)
            if message.isCancelRequest { state.cancelRequests += 1 }
            return state.rule(message)
        }
        let target = isToServer ? link.server : link.client
        switch fate {
        case .cutBefore: return false
        case .cutDuring:
            link.say(bytes[..<(bytes.count / 2)], target)
            return false
        case .cutAfter:
            link.say(bytes[...], target)
            return false
        case .silence:
            link.isSilent.withLock { $0 = true }
            state.withLock { $0.silent.append(link) }
        case .hold: hold()
        case .pass: break
        }
        if !link.isSilent.withLock({ $0 }) { link.say(bytes[...], target) }
        return true
    }

    private func hold() {
        gate.lock()
        tellHeld.yield()
        gate.wait(for: "the end of the hold") { state.withLock(\.isReleased) }
        gate.unlock()
    }

    private static func connect(_ path: String) -> Int32? {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        let isConnected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
        if isConnected { return descriptor }
        close(descriptor)
        return nil
    }

    /// Both ends of one connection, closed when both threads have ended.
    private final class Link: Sendable {
        let client: Int32
        let server: Int32
        let isSilent = Mutex(false)

        init(client: Int32, server: Int32) {
            self.client = client
            self.server = server
        }

        deinit {
            close(client)
            close(server)
        }

        func cut() {
            shutdown(client, Int32(SHUT_RDWR))
            shutdown(server, Int32(SHUT_RDWR))
        }

        func say(_ bytes: ArraySlice<UInt8>, _ target: Int32) {
            var rest = bytes
            while !rest.isEmpty {
                let sent = rest.withUnsafeBytes {
                    send(target, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                guard sent > 0 else { return }
                rest = rest.dropFirst(sent)
            }
        }
    }

    /// Splits bytes into messages: a letter, a length, and the contents. A
    /// client's first message has no letter.
    private struct MessageReader {
        var isFirst: Bool
        private var bytes: [UInt8] = []

        init(isFirst: Bool) { self.isFirst = isFirst }

        mutating func take(_ more: ArraySlice<UInt8>) { bytes += more }

        mutating func next() -> (Character?, [UInt8])? {
            let head = isFirst ? 0 : 1
            guard bytes.count >= head + 4 else { return nil }
            let length = bytes[head..<(head + 4)].reduce(0) { $0 << 8 | Int($1) }
            guard bytes.count >= head + length else { return nil }
            let message = Array(bytes[..<(head + length)])
            bytes.removeFirst(head + length)
            defer { isFirst = false }
            return (isFirst ? nil : Character(Unicode.Scalar(message[0])), message)
        }
    }
}
