// SPDX-License-Identifier: Apache-2.0

import Commerce
import Crypto
import Foundation
import Storage
public import StoreWire

/// Personal keys to the operators' door. The audit records their names.
extension Store {
    /// The name in the audit for the door's own key.
    public static let unnamedOperator = "operator"

    /// Returns all operators who have or had a key, oldest first.
    public func operators() async throws -> [OperatorSummary] {
        try await registry.read { try $0.query(Statement.Operators.list, []) }.map { row in
            OperatorSummary(
                name: try row.text("name"),
                createdDate: Timestamp(milliseconds: try row.integer("made_at")),
                revokedDate: try row.optionalInteger("revoked_at").map(
                    Timestamp.init(milliseconds:)))
        }
    }

    /// Generates a personal key for an operator. It is only in this answer and
    /// is not stored. Refusals, in order: `operatorNameInvalid`,
    /// `operatorNameSpent`.
    public func createOperator(
        _ request: CreateOperatorRequest, _ context: RequestContext
    ) async throws -> CreatedOperator {
        // The names for callers without a personal key are reserved.
        guard IDText.isID(request.name), !Self.ownNames.contains(request.name) else {
            throw Refusal(
                .badRequest, code: "operatorNameInvalid", "This is not a valid operator's name.",
                field: "name",
                rule: "1 to 100 of letters, digits, `-`, `.` and `_`; none of "
                    + Self.ownNames.map { "`\($0)`" }.joined(separator: ", "),
                remedy: "give one such as `ann`")
        }
        let key = ports.randomness.hex(32)
        let entry = audit(
            "operator.create", request.name, before: nil, after: ["key": "in use"], context)
        let values = RegistrySchema.operators.row([
            "name": .text(request.name), "key_hash": .blob(Self.hash(key)),
            "made_at": .optional(entry.wall),
        ])
        let isMade = try await registry.write { writing in
            guard try writing.first(Statement.Operators.insert, values) != nil else {
                return false
            }
            try entry.writeInRegistry(writing)
            return true
        }
        guard isMade else {
            throw Refusal(
                .conflict, code: "operatorNameSpent", "This name is or was in use.",
                field: "name",
                rule: "a name is used only once, because the audit identifies operators by it",
                remedy: "choose another name")
        }
        ports.log(.info, "operator made", context, ["operator": request.name])
        return CreatedOperator(name: request.name, key: key)
    }

    /// Revokes an operator's key for all processes. Refusals: `textInvalid`,
    /// `operatorUnknown`.
    public func revokeOperator(_ name: String, _ context: RequestContext) async throws {
        try Edge.text(name, "name")
        let entry = audit(
            "operator.revoke", name, before: ["key": "in use"], after: ["key": "revoked"], context)
        let isRevoked = try await registry.write { writing in
            let values: [SQLValue] = [.text(name), .optional(entry.wall)]
            guard try writing.first(Statement.Operators.revoke, values) != nil else {
                return false
            }
            try entry.writeInRegistry(writing)
            return true
        }
        guard isRevoked else {
            throw Refusal(
                .notFound, code: "operatorUnknown", "No operator with this name has a key.",
                field: "name", rule: "an operator with a valid key",
                remedy: "list the operators")
        }
        ports.log(.info, "operator's key revoked", context, ["operator": name])
    }

    /// Returns the operator of a key, or nil. Looks the key up by its hash, so
    /// that the time reveals nothing about keys.
    func operatorName(ofKey key: String) async throws -> String? {
        guard key.utf8.count == 64 else { return nil }
        let values: [SQLValue] = [.blob(Self.hash(key))]
        return try await registry.read { reading in
            try reading.first(Statement.Operators.byKey, values)?.text("name")
        }
    }

    private static func hash(_ key: String) -> [UInt8] {
        Array(SHA256.hash(data: Data(key.utf8)))
    }

    private static let ownNames =
        ["server", "serve", "start", "none"] + Door.allCases.map(\.rawValue)
}
