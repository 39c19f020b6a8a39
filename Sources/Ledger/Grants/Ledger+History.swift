// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
public import StoreWire

extension Ledger {
    /// Returns a page of what has happened in an account, the newest first. `after`
    /// is the `next` of the page before. Refusals: `textInvalid`,
    /// `environmentMissing`, `environmentRefused`, `cursorInvalid`, `limitInvalid`.
    public func history(
        account: String, environment: String? = nil, after: String? = nil, limit: Int? = nil
    ) async throws -> AccountHistory {
        let account = try Edge.account(account)
        let environment = try self.environment(environment)
        let start = try after.map { try HistoryCursor($0) } ?? .start
        let limit = try Edge.limit(limit)
        let values =
            [.text(account), .text(environment.rawValue)] + start.values
            + [.integer(Int64(limit + 1))]
        let rows = try await storage.read { try $0.query(Statement.History.page, values) }
        let page = rows.prefix(limit)
        return AccountHistory(
            account: account, environment: environment.rawValue,
            events: try page.map { try LedgerEvent($0) },
            next: rows.count > limit ? try page.last.map { try HistoryCursor($0).text } : nil)
    }
}

/// The end of a page of history: date, place, id and number of its last event.
private struct HistoryCursor {
    let happenedAt: Int64
    let place: Int64
    let id: String
    let number: Int64

    static let start = HistoryCursor(happenedAt: .max, place: 0, id: "", number: 0)

    private init(happenedAt: Int64, place: Int64, id: String, number: Int64) {
        self.happenedAt = happenedAt
        self.place = place
        self.id = id
        self.number = number
    }

    init(_ row: Row) throws {
        happenedAt = try row.integer("happened_at")
        place = try row.integer("place")
        id = try row.text("id")
        number = try row.integer("number")
    }

    /// Parses ``text``. The id is last, because it may contain dots.
    init(_ text: String) throws(LedgerRefusal) {
        let parts = text.split(separator: ".", maxSplits: 3, omittingEmptySubsequences: false)
            .map(String.init)
        guard parts.count == 4, text.utf8.count <= 2048, !text.utf8.contains(0),
            let happenedAt = Int64(parts[0]), let place = Int64(parts[1]),
            let number = Int64(parts[2])
        else {
            throw LedgerRefusal(
                .badRequest, code: "cursorInvalid", "This is not the end of a page.",
                field: "after", rule: "the `next` of an earlier answer",
                remedy: "leave it out to start from the first page")
        }
        self.init(happenedAt: happenedAt, place: place, id: parts[3], number: number)
    }

    var text: String { "\(happenedAt).\(place).\(number).\(id)" }

    var values: [SQLValue] {
        [.integer(happenedAt), .integer(place), .text(id), .integer(number)]
    }
}

extension LedgerEvent {
    fileprivate init(_ row: Row) throws {
        let transaction = try row.optionalText("transaction_id")
        let named = "transaction \(transaction ?? "")"
        let product = try row.optionalText("product_id") ?? ""
        let amount = try row.optionalInteger("amount") ?? 0
        let name = try row.optionalText("name") ?? ""
        let purpose = try row.optionalText("purpose") ?? ""
        let left = "the balance is \(try row.optionalInteger("balance") ?? 0)"
        let (kind, text): (String, String) =
            switch try row.integer("place") {
            case 0: ("purchase", "Bought \(amount) × \(product) (\(named)).")
            case 1: ("grant", "Granted \(name) for \(named).")
            case 2:
                (
                    "redemption",
                    "Redeemed unit \(amount) of \(product) (\(named)) for \(purpose)."
                )
            case 4: ("revocation", "The store revoked \(named) (\(product)).")
            case 10: ("grant", "Granted \(amount) \(name) for \(named); \(left).")
            case 11: ("spending", "Spent \(-amount) \(name) for \(purpose); \(left).")
            case 12: ("reversal", "Took back \(-amount) \(name) of \(named); \(left).")
            case 13: ("restoration", "Gave back \(amount) \(name) of \(named); \(left).")
            default:
                (
                    "transfer",
                    amount < 0
                        ? "\(-amount) \(name) of \(named) went to another account; \(left)."
                        : "\(amount) \(name) of \(named) came from another account; \(left)."
                )
            }
        self.init(
            date: Timestamp(milliseconds: try row.integer("happened_at")), kind: kind,
            text: text, transactionId: transaction,
            idempotencyKey: try row.optionalText("idempotency_key"))
    }
}
