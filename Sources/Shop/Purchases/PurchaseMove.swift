// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage

/// A purchase's row moves on by an event. It takes effect only from the state
/// that the event began in.
struct PurchaseMove: Sendable {
    private let values: [SQLValue]

    /// `instant`: the commercial time of the event.
    init(
        _ key: PurchaseKey, _ event: PurchaseEvent, from before: PurchaseState,
        at instant: Timestamp
    ) {
        let state = event.state
        values =
            key.values + [
                .text(before.word), .text(state.word), .text(event.cause.rawValue),
                .optional(state.refusal?.rawValue), .optional(event.transaction?.value),
                .optional(event.total?.amount.milliunits), .optional(event.reference),
                .optional(event.debt == .void ? instant : nil),
                .optional(event.approval?.rawValue),
                .optional(state.isDecided ? instant : nil),
            ]
    }

    /// Returns whether the purchase was still in the state that the event began
    /// in.
    func write(_ line: CustomerLine) throws -> Bool {
        try line.writing.first(
            Statement.Purchases.move, values + [.integer(line.revision)]) != nil
    }
}
