// SPDX-License-Identifier: Apache-2.0

public import Commerce
public import NIOCore
public import StoreWire

/// Where a server listens, and its limits.
public struct ShellConfiguration: Sendable {
    /// A loopback address or `localhost`. Any address if there is a proxy.
    public let host: String
    /// 0 selects a free port.
    public let port: Int
    /// Further ports. The request handler receives the listener's name.
    public var listeners: [Listener] = []
    /// A port with TLS, which answers like the main one. Nil for none.
    public var secure: SecureListener?
    /// The proxies that end TLS in front of this server.
    public let proxies: TrustedProxies?
    /// The most open connections at all ports together. Further clients wait
    /// until one closes.
    public var connectionsMax = 16_384
    /// The most requests that wait for changes at once. Further ones are
    /// rejected.
    public var waitingMax = 12_288
    /// How many of them one customer may have. By default an eighth of all, and
    /// at most 256.
    public var waitingPerCustomerMax: Int {
        get { waitingOfCustomer ?? max(1, min(256, waitingMax / 8)) }
        set { waitingOfCustomer = newValue }
    }
    private var waitingOfCustomer: Int?
    /// How many of them one client's address may have, if a proxy reports it.
    public var waitingPerAddressMax: Int { max(1, waitingMax / 8) }
    /// The host names of the server, in addition to this machine's own.
    public var names = ServedNames()
    /// The process's file descriptors. Nil if unknown.
    public private(set) var descriptors: Descriptors?
    /// The most bytes in a request's body. A request for 1000 products with the
    /// longest ids fits.
    public var bodyBytesMax = 512 * 1024
    /// How long a request's body may take to arrive.
    public var bodyTimeout = Duration.seconds(15)
    /// How long an answer may take, except while it waits for changes.
    public var requestTimeout = Duration.seconds(60)
    /// How long the storage may take to answer that it works.
    public var readyTimeout = Duration.seconds(2)
    /// How long a connection may be silent between requests, or take for a
    /// request's head.
    public var idleTimeout = Duration.seconds(75)
    /// How long running requests may take to end once the server stops.
    public var shutdownTimeout = Duration.seconds(10)
    /// Whether SIGTERM and SIGINT stop the server.
    public var stopsOnSignals = true

    /// A port in addition to the server's main one.
    public struct Listener: Hashable, Sendable {
        public let name: String
        /// 0 selects a free port.
        public let port: Int

        /// Throws ``WireError`` `portInvalid`.
        public init(name: String, port: Int) throws(WireError) {
            guard (0...65_535).contains(port) else { throw ShellConfiguration.noPort(port) }
            self.name = name
            self.port = port
        }
    }

    /// A port whose connections are encrypted. This module knows no TLS library:
    /// `prepare` adds it to each new connection, on the connection's event loop,
    /// before everything else.
    public struct SecureListener: Sendable {
        /// 0 selects a free port.
        public let port: Int
        let prepare: @Sendable (any Channel) throws -> Void

        /// Throws ``WireError`` `portInvalid`.
        public init(
            port: Int, prepare: @escaping @Sendable (any Channel) throws -> Void
        ) throws(WireError) {
            guard (0...65_535).contains(port) else { throw ShellConfiguration.noPort(port) }
            self.port = port
            self.prepare = prepare
        }
    }

    /// Throws ``WireError`` `hostNotLoopback` or `portInvalid`.
    public init(
        host: String = "127.0.0.1", port: Int = 0, proxies: TrustedProxies? = nil
    ) throws(WireError) {
        guard Self.isLoopback(host) || proxies != nil else {
            throw WireError(
                code: "hostNotLoopback",
                message: "Without a proxy the server is for this machine only, and `\(host)` is "
                    + "not one of its loopback addresses.",
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

    /// Lowers the limits of connections to the process's file descriptors. Each
    /// connection needs one, and a process without any can neither read a key
    /// nor open a database. Returns true if the limits were lowered.
    public mutating func fit(into descriptors: Descriptors) -> Bool {
        self.descriptors = descriptors
        guard connectionsMax > descriptors.connectionsMax else { return false }
        limitConnections(to: descriptors.connectionsMax)
        return true
    }

    /// Sets the most open connections. A quarter of them stays free for
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

    /// Adds the host of the address under which others reach the server. Nil
    /// changes nothing.
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

    /// Whether a host is this machine, by its text alone. No name except
    /// `localhost` is recognised.
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

/// The external functions that a server needs: waiting and measuring time, but
/// no dates, and randomness for the ids of requests without one.
public struct ShellPorts: Sendable {
    /// Sleeps. Ends early with an error when its task is cancelled.
    public var sleep: @Sendable (Duration) async throws -> Void
    /// The time since a fixed instant. It never decreases.
    public var monotonic: @Sendable () -> Duration
    public var randomness: Randomness
    /// How many file descriptors the process has open. Nil if unknown.
    public var openDescriptors: @Sendable () -> Int? = { nil }
    private let deadlines: Deadlines
    let alarms: Alarms

    public init(
        sleep: @escaping @Sendable (Duration) async throws -> Void,
        monotonic: @escaping @Sendable () -> Duration, randomness: Randomness
    ) {
        self.sleep = sleep
        self.monotonic = monotonic
        self.randomness = randomness
        deadlines = Deadlines(sleep: sleep)
        alarms = Alarms(sleep: sleep, monotonic: monotonic)
    }

    /// Runs `body` and cancels it after `limit`, or up to an eighth later. Throws `late` if it
    /// was cancelled, unless it has an answer nevertheless.
    @inline(never)
    package func deadline<Answer: Sendable>(
        _ limit: Duration, or late: RequestMistake,
        _ body: @escaping @Sendable () async throws -> Answer
    ) async throws -> Answer {
        let deadlines = deadlines
        // A child, because a cancelled task could not write the answer. An immediate one
        // answers a single client sooner, and many clients at once a quarter slower.
        return try await withThrowingTaskGroup(of: Answer.self) { group in
            group.addTask {
                try await withUnsafeCurrentTask { task in
                    let child = RunningTask(task)
                    let ticket = deadlines.set(limit) { child.cancel() }
                    do {
                        let answer = try await body()
                        _ = deadlines.remove(ticket)
                        return answer
                    } catch {
                        throw deadlines.remove(ticket) ? late : error
                    }
                }
            }
            guard let answer = try await group.next() else { throw late }
            return answer
        }
    }
}

/// A task that is sure to run while this is used, which makes it safe to share.
private struct RunningTask: @unchecked Sendable {
    private let task: UnsafeCurrentTask?

    init(_ task: UnsafeCurrentTask?) { self.task = task }

    func cancel() { task?.cancel() }
}
