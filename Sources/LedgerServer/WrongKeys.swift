// SPDX-License-Identifier: Apache-2.0

import Commerce
import HTTPShell
import StoreWire
import Synchronization

/// Counts the clients that sent wrong keys to this process. After many wrong
/// keys a client has to wait before the next one. A right key is never counted
/// and never waits. A class, because all requests share it.
final class WrongKeys: Sendable {
    /// The most clients that are remembered at once.
    static let clientsMax = 20_000

    private let clients = Mutex<[String: Attempts]>([:])

    /// Counts a wrong key. Throws ``TooManyWrongKeys`` if its client has to
    /// wait. `now` may come from any clock that never decreases.
    func note(_ client: String?, at now: Timestamp) throws(TooManyWrongKeys) {
        let client = client ?? "here"
        let wait = clients.withLock { clients -> Int64? in
            if let wait = clients[client]?.wait(.key, at: now) { return wait }
            if clients.count >= Self.clientsMax {
                clients = clients.filter { !$0.value.isForgotten(at: now) }
                if clients.count >= Self.clientsMax { clients = [:] }
            }
            clients[client, default: Attempts()].mistake(at: now)
            return nil
        }
        if let wait { throw TooManyWrongKeys(seconds: Int(wait)) }
    }
}

/// A client has sent too many wrong keys.
struct TooManyWrongKeys: Error {
    let seconds: Int

    var error: WireError {
        WireError(
            code: "tooManyAttempts", message: "There were too many wrong keys.",
            field: "Authorization", rule: "after many wrong keys, each further one has to wait",
            remedy: "try again in \(seconds) s, with the right key, which never waits")
    }
}
