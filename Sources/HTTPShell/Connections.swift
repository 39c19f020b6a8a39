// SPDX-License-Identifier: Apache-2.0

import HummingbirdCore
import NIOCore
public import StoreWire
import Synchronization

/// How many file descriptors the process may have open at once, and how many of
/// them are reserved for everything except connections: databases, keys, calls
/// to other servers, and the runtime.
public struct Descriptors: Hashable, Sendable {
    /// With a lower limit a server does not start.
    public static let limitMin = 256

    /// The operating system's limit for the process.
    public let limit: Int
    /// How many descriptors connections do not use: a quarter, at least 128 and
    /// at most 1,024. A realm in SQLite uses about twenty.
    public let reserve: Int

    /// Throws ``WireError`` `descriptorsTooFew`.
    public init(limit: Int) throws(WireError) {
        guard limit >= Self.limitMin else {
            throw WireError(
                code: "descriptorsTooFew",
                message: "The process may have \(limit) files and connections open at once.",
                field: "ulimit -n", rule: "at least \(Self.limitMin)",
                remedy: "raise the limit with `ulimit -n`, or LimitNOFILE= of the service")
        }
        self.limit = limit
        reserve = min(max(limit / 4, 128), 1024)
    }

    /// The most connections that leave the reserve free.
    public var connectionsMax: Int { limit - reserve }
}

/// The open connections of one server, at all of its ports. A class, because
/// the ports share it.
final class Connections: Sendable {
    private struct State {
        var count = 0
        /// Functions that make a port accept again.
        var ports: [@Sendable () -> Void] = []
    }

    let max: Int
    private let state = Mutex(State())

    init(max: Int) {
        self.max = max
    }

    var count: Int { state.withLock(\.count) }
    var hasRoom: Bool { count < max }

    /// Whether fewer than one in twenty places are free. A load balancer should
    /// then send new clients elsewhere.
    var isNearlyFull: Bool { count > max - max / 20 }

    func opened() { state.withLock { $0.count += 1 } }

    func closed() {
        // The port that waits for room may be another than the one that lost a
        // connection.
        let waiting = state.withLock { state in
            state.count -= 1
            return state.count == max - 1 ? state.ports : []
        }
        for accept in waiting { accept() }
    }

    /// Registers a port. It also waits for room while all connections are at
    /// other ports.
    func add(port accept: @escaping @Sendable () -> Void) {
        state.withLock { $0.ports.append(accept) }
    }
}

/// One port's view of ``Connections``.
struct SharedConnections: AvailableConnectionsDelegate {
    let connections: Connections

    func connectionOpened() { connections.opened() }
    func connectionClosed() { connections.closed() }
    func isAcceptingNewConnections() -> Bool { connections.hasRoom }
}
