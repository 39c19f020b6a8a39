// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Whether a request's connection was read to its end while the server watched
/// for the client to leave. Such a connection can carry no other request, and
/// every answer on it says so, also an error. A class, because the door and the
/// shell share it.
package final class ConnectionEnd: Sendable {
    private let flag = Mutex(false)

    var isReached: Bool { flag.withLock { $0 } }

    package func note() { flag.withLock { $0 = true } }
}
