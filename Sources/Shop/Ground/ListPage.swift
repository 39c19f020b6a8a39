// SPDX-License-Identifier: Apache-2.0

/// The pages of operators' lists.
public enum ListPage {
    /// The most entries in one answer to an operator.
    public static let max = 1000

    static func limit(_ limit: Int) -> Int64 { Int64(min(Swift.max(limit, 1), max)) }

    static func cursor(_ text: String?, _ field: String) throws -> Int64? {
        guard let text else { return nil }
        guard let number = Edge.number(text) else { throw cursorInvalid(field) }
        return number
    }

    static func cursorInvalid(_ field: String) -> Refusal {
        Refusal(
            .badRequest, code: "cursorInvalid", "This is not the end of a page.", field: field,
            rule: "as an earlier answer gave it", remedy: "leave it out to start over")
    }
}
