// SPDX-License-Identifier: Apache-2.0

import Foundation
import Outbound
import Synchronization

/// Cancels the running calls when the process exits.
///
/// `exit` destroys the libraries of a call, TLS among them, while the client's
/// thread still uses them. A crash during the exit would report a false status
/// to the parent process. The queue file knows which calls to repeat.
///
/// One for each process, because it concerns the exit of the process.
enum LastCalls {
    private struct Watched {
        weak var client: OutboundClient?
    }

    /// How long an exit waits for a client's thread. Usually it ends at once.
    private static let waitMilliseconds = 1000

    private static let clients = Mutex<[Watched]>([])
    private static let registered: Void = {
        atexit { LastCalls.leave() }
    }()

    /// Must be called when there is a client. Exit handlers run in reverse
    /// order of registration, so this one runs before those of the libraries
    /// that the client loaded.
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
