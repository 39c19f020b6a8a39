// SPDX-License-Identifier: Apache-2.0

import Ledger
import Shop

/// The state of a program's databases, as `status` prints it.
struct DatabaseAnswer<Status: DatabaseStatus>: Encodable {
    let program: String
    let place: String
    let isServed: Bool
    let status: Status

    init(_ status: Status, place: String, isServed: Bool) {
        program = Shopkeeper.version
        self.place = place
        self.isServed = isServed
        self.status = status
    }

    /// The same as lines of text, with the program's own `details`.
    func lines(_ details: [String]) -> [String] {
        let facts = status.facts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        let head = [
            "\(status.engine) at \(place), \(status.bytes) bytes, "
                + (isServed ? "served by this machine" : "not served from this folder"),
            "  " + facts.joined(separator: "; "),
        ]
        let tail = status.isHalfRestored ? ["  HALF RESTORED: restore it again"] : []
        return head + details + tail
    }
}

protocol DatabaseStatus: Encodable {
    var engine: String { get }
    var facts: [String: String] { get }
    var bytes: Int64 { get }
    var isHalfRestored: Bool { get }
}

extension StoreStatus: DatabaseStatus {}
extension LedgerStatus: DatabaseStatus {}
