// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage

/// The actor of a change, for the audit: the name of a key or a command. A server sets
/// it around the use cases of a request. A change without an actor is not in the audit,
/// such as those that a store's notification or a customer's app makes.
public struct LedgerActor: Hashable, Sendable {
    /// At most 255 bytes. Never a secret.
    public let name: String

    public init(_ name: String) { self.name = name }

    /// An account that presents a purchase of another one, with its own token.
    static let account = LedgerActor("account")

    /// The actor of the present task.
    @TaskLocal public static var current: LedgerActor?
}

/// What the audit records.
enum AuditAction: String, CaseIterable, Sendable {
    case keyCreated, keyRevoked
    case purchaseTaken, redeemed, reserved, confirmed, released, spent, granted, unparked
    case restored, merged, exported, erased, replayed, parked
}

/// An entry of the audit, to be written in the commit of the change.
struct AuditNote: Sendable {
    fileprivate let row: [SQLValue]
    fileprivate let nameless: [SQLValue]

    /// `namesAccount`: whether the account may be named. An erased one may not.
    func write(_ writing: any Writing, namesAccount: Bool = true) throws {
        try writing.execute(Statement.Audit.insert, namesAccount ? row : nameless)
    }
}

extension Ledger {
    /// Returns the entry for a change by the present actor, or by another one where
    /// there is none. Nil without either.
    func note(
        _ action: AuditAction, account: String? = nil, _ subject: String? = nil,
        by other: LedgerActor? = nil
    ) -> AuditNote? {
        guard let actor = LedgerActor.current ?? other else { return nil }
        let (now, id) = (ports.wall.now.milliseconds, ports.randomness.hex(8))
        func row(_ account: String?) -> [SQLValue] {
            LedgerSchema.audit.row([
                "recorded_at": .integer(now), "entry_id": .text(id), "actor": .text(actor.name),
                "action": .text(action.rawValue), "account": .optional(account),
                "subject": .optional(subject),
            ])
        }
        return AuditNote(row: row(account), nameless: row(nil))
    }
}
