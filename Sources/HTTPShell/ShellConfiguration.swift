// SPDX-License-Identifier: Apache-2.0

public import Commerce
public import StoreWire

/// Where a server listens, and its limits.
public struct ShellConfiguration: Sendable {
    /// A loopback address or `localhost`; any, behind a proxy.
    public let host: String
    /// 0: any free one.
    public let port: Int
    /// Ports beside it, each with a word of its own for whoever answers.
    public var listeners: [Listener] = []
    /// The proxies that end TLS in front of this server.
    public let proxies: TrustedProxies?
    /// Connections open at once, at all ports together; the next client waits until one closes.
    public var connectionsMax = 16_384
    /// Requests that wait for changes at once; the next one is refused.
    public var waitingMax = 12_288
    /// How many of them one customer may have; where it is not set, an eighth of
    /// all, and at most 256.
    public var waitingPerCustomerMax: Int {
        get { waitingOfCustomer ?? max(1, min(256, waitingMax / 8)) }
        set { waitingOfCustomer = newValue }
    }
    private var waitingOfCustomer: Int?
    /// How many of them one client's address may have, where a proxy tells it.
    public var waitingPerAddressMax: Int { max(1, waitingMax / 8) }
    /// The host names under which the server is asked, beside this machine's own.
    public var names = ServedNames()
    /// What the process may have open; nil where it is not known.
    public private(set) var descriptors: Descriptors?
    /// Bytes of a request's body: a request for 1000 products of the longest
    /// ids fits in.
    public var bodyBytesMax = 512 * 1024
    /// How long a request's body may take to arrive.
    public var bodyTimeout = Duration.seconds(15)
    /// How long an answer may take, waiting for changes apart.
    public var requestTimeout = Duration.seconds(60)
    /// How long the storage may take to say that it is there.
    public var readyTimeout = Duration.seconds(2)
    /// How long a connection may be silent between requests, or take over a
    /// request's head.
    public var idleTimeout = Duration.seconds(75)
    /// How long requests under way may take to end once the server stops.
    public var shutdownTimeout = Duration.seconds(10)
    /// Whether SIGTERM and SIGINT stop the server.
    public var stopsOnSignals = true

    /// A port beside the server's own.
    public struct Listener: Hashable, Sendable {
        public let name: String
        /// 0: any free one.
        public let port: Int

        /// Throws ``WireError`` `portInvalid`.
        public init(name: String, port: Int) throws(WireError) {
            guard (0...65_535).contains(port) else { throw ShellConfiguration.noPort(port) }
            self.name = name
            self.port = port
        }
    }

    /// Throws ``WireError`` `hostNotLoopback` or `portInvalid`.
    public init(
        host: String = "127.0.0.1", port: Int = 0, proxies: TrustedProxies? = nil
    ) throws(WireError) {
        guard Self.isLoopback(host) || proxies != nil else {
            throw WireError(
                code: "hostNotLoopback",
                message: "The server has no TLS of its own, and `\(host)` is not one of this "
                    + "machine's loopback addresses.",
                field: "host", rule: "127.0.0.0/8, ::1 or localhost; any behind a proxy with TLS",
                remedy: "leave the host out, or put a proxy with TLS in front and name its "
                    + "address with --behind-proxy")
        }
        guard (0...65_535).contains(port) else { throw Self.noPort(port) }
        self.host = host
        self.port = port
        self.proxies = proxies
        if !["0.0.0.0", "::"].contains(host) { names.add(host) }
    }

    /// Lowers the limits of connections to what the process may have open. Each
    /// connection takes a descriptor, and a process without any can neither read
    /// a key nor open a database. True where the limits were lowered.
    public mutating func fit(into descriptors: Descriptors) -> Bool {
        self.descriptors = descriptors
        guard connectionsMax > descriptors.connectionsMax else { return false }
        limitConnections(to: descriptors.connectionsMax)
        return true
    }

    /// Sets how many connections may be open. A quarter of them stays free for
    /// requests that do not wait.
    public mutating func limitConnections(to count: Int) {
        connectionsMax = count
        waitingMax = max(1, count / 4 * 3)
    }

    private static func noPort(_ port: Int) -> WireError {
        WireError(
            code: "portInvalid", message: "There is no port \(port).", field: "port",
            rule: "0 (any free one) to 65535", remedy: "choose another, or leave it out")
    }

    /// Takes the address under which others reach the server; nil changes nothing.
    public mutating func reach(at publicURL: String?) {
        guard
            let rest = publicURL?.split(separator: "/", maxSplits: 1).last?.drop(while: {
                $0 == "/"
            }),
            let host = Approach.host(String(rest.prefix { $0 != "/" }))
        else { return }
        names.add(host)
        names.coversProxies = true
    }

    /// Whether a host is this machine, by its spelling alone: no name but
    /// `localhost` is looked up.
    public static func isLoopback(_ host: String) -> Bool {
        if host == "localhost" || host == "::1" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 4, parts[0] == "127" else { return false }
        return parts.allSatisfy { part in
            (1...3).contains(part.utf8.count)
                && part.utf8.allSatisfy { (48...57).contains($0) } && UInt8(part) != nil
        }
    }
}

/// What a server needs from outside: time to wait by, never to date by, and
/// randomness for the ids of requests that bring none.
public struct ShellPorts: Sendable {
    /// Waits; ends early with an error when its task is cancelled.
    public var sleep: @Sendable (Duration) async throws -> Void
    /// Time since some instant, that never goes back.
    public var monotonic: @Sendable () -> Duration
    public var randomness: Randomness
    /// How many descriptors the process has open; nil where it is not known.
    public var openDescriptors: @Sendable () -> Int? = { nil }
    private let deadlines: Deadlines

    public init(
        sleep: @escaping @Sendable (Duration) async throws -> Void,
        monotonic: @escaping @Sendable () -> Duration, randomness: Randomness
    ) {
        self.sleep = sleep
        self.monotonic = monotonic
        self.randomness = randomness
        deadlines = Deadlines(sleep: sleep)
    }

    /// Runs `body`, but no longer than `limit` and an eighth: it is cancelled then.
    package func deadline<Answer: Sendable>(
        _ limit: Duration, or late: RequestMistake,
        _ body: @escaping @Sendable () async throws -> Answer
    ) async throws -> Answer {
        let deadlines = deadlines
        return try await withThrowingTaskGroup(of: Answer?.self) { group in
            group.addTask { try await body() }
            group.addTask {
                await deadlines.wait(limit)
                try Task.checkCancellation()
                return nil
            }
            defer { group.cancelAll() }
            guard let first = try await group.next(), let answer = first else { throw late }
            return answer
        }
    }
}
