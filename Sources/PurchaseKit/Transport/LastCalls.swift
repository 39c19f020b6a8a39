// SPDX-License-Identifier: Apache-2.0

import Foundation
import Outbound
import Synchronization

/// Takes the calls that are under way off the network when the process exits.
///
/// `exit` tears down what lies below a call, TLS among it, while the client's
/// thread still uses it, and a process that crashes as it leaves reports a
/// false status to its parent. The queue file knows what to ask again.
///
/// One for the process, because that is what exits.
enum LastCalls {
    private struct Watched {
        weak var client: OutboundClient?
    }

    /// How long an exit waits for a client's thread; mostly it ends at once.
    private static let waitMilliseconds = 1000

    private static let clients = Mutex<[Watched]>([])
    private static let registered: Void = {
        atexit { LastCalls.leave() }
    }()

    /// To be called when there is a client: what is registered later is run
    /// earlier, so this comes before the end of the libraries that it brought.
    static func watch(_ client: OutboundClient) {
        _ = registered
        clients.withLock { clients in
            clients.removeAll { $0.client == nil }
            clients.append(Watched(client: client))
        }
    }

    private static func leave() {
        for client in clients.withLock({ $0.compactMap(\.client) }) {
            client.close(waitingMilliseconds: waitMilliseconds)
        }
    }
}
