// SPDX-License-Identifier: Apache-2.0

import HummingbirdCore
import NIOCore
public import StoreWire
import Synchronization

/// How many files and connections the process may have open at once, and how
/// many of them connections leave to the rest: databases, keys, calls to other
/// servers, and what the runtime opens for itself.
public struct Descriptors: Hashable, Sendable {
    /// With fewer a server does not start.
    public static let limitMin = 256

    /// What the operating system allows the process.
    public let limit: Int
    /// How many of them no connection uses: a quarter, at least 128 and at most
    /// 1,024. A realm in SQLite takes about twenty.
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

    /// How many connections there is room for.
    public var connectionsMax: Int { limit - reserve }
}

/// The open connections of one server, at all of its ports together. A class,
/// because its ports share it.
final class Connections: Sendable {
    private struct State {
        var count = 0
        /// Asks each port to accept again.
        var ports: [@Sendable () -> Void] = []
    }

    let max: Int
    private let state = Mutex(State())

    init(max: Int) {
        self.max = max
    }

    var count: Int { state.withLock(\.count) }
    var hasRoom: Bool { count < max }

    /// Whether fewer than one in twenty places are free: then a load balancer
    /// had better send new clients elsewhere.
    var isNearlyFull: Bool { count > max - max / 20 }

    func opened() { state.withLock { $0.count += 1 } }

    func closed() {
        // Another port than the one that lost a connection may wait for room.
        let waiting = state.withLock { state in
            state.count -= 1
            return state.count == max - 1 ? state.ports : []
        }
        for accept in waiting { accept() }
    }

    /// A port waits for room, too, where all connections are at other ports.
    func add(port accept: @escaping @Sendable () -> Void) {
        state.withLock { $0.ports.append(accept) }
    }
}

/// One port's part in ``Connections``.
struct SharedConnections: AvailableConnectionsDelegate {
    let connections: Connections

    func connectionOpened() { connections.opened() }
    func connectionClosed() { connections.closed() }
    func isAcceptingNewConnections() -> Bool { connections.hasRoom }
}
