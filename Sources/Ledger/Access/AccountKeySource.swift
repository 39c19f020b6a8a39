// SPDX-License-Identifier: Apache-2.0

import Commerce
import SignedData

/// The key set of the merchant's tokens, as it was fetched last. A server that does
/// not answer, or answers with no key set, leaves the last keys as they are.
actor AccountKeySource {
    /// The shortest time between two fetches.
    static let restMilliseconds: Int64 = 60_000
    /// After this time the keys are fetched again, so that a key that is gone counts no
    /// longer.
    static let ageMilliseconds: Int64 = 3_600_000

    private let url: String
    private let ports: LedgerPorts
    private var keys: JSONWebKeys?
    private var fetchedAt: Timestamp?
    private var askedAt: Timestamp?
    private var asking: Task<Void, Never>?

    init(url: String, _ ports: LedgerPorts) {
        self.url = url
        self.ports = ports
    }

    /// Returns the keys, after a fetch if the key with this id is not among them. Nil
    /// if they could never be fetched.
    func keys(with id: String) async -> JSONWebKeys? {
        if isDue(id) { ask() }
        if keys?.has(id) != true { await asking?.value }
        return keys
    }

    private func isDue(_ id: String) -> Bool {
        guard asking == nil else { return false }
        let now = ports.wall.now
        if let askedAt, (0..<Self.restMilliseconds).contains(now.milliseconds(since: askedAt)) {
            return false
        }
        guard keys?.has(id) == true, let fetchedAt else { return true }
        return !(0..<Self.ageMilliseconds).contains(now.milliseconds(since: fetchedAt))
    }

    private func ask() {
        askedAt = ports.wall.now
        asking = Task {
            do {
                keys = try await fetch()
                fetchedAt = ports.wall.now
            } catch {
                let reason = (error as? StoreUnreached)?.reason ?? "\(error)"
                ports.log("the key set of accounts' tokens was not fetched", ["reason": reason])
            }
            asking = nil
        }
    }

    private func fetch() async throws -> JSONWebKeys {
        guard let door = ports.stores else {
            throw StoreUnreached("this ledger makes no calls")
        }
        let answer = try await door.send(
            StoreCall(
                .merchant, "GET", url, headers: ["Accept": "application/json"],
                timeoutMilliseconds: 5000, answerBytesMax: JSONWebKeys.bytesMax))
        guard answer.status == 200 else {
            throw StoreUnreached("its server answered with \(answer.status)")
        }
        return try JSONWebKeys(published: answer.body)
    }
}
