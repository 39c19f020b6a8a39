// SPDX-License-Identifier: Apache-2.0

import Commerce

/// The rules for foreign text, applied before anything else reads it.
enum Edge {
    /// The longest text of a field, in UTF-8 bytes.
    static let textBytesMax = 255
    /// The longest purpose, which may be a sentence.
    static let purposeBytesMax = 1024
    /// The most purchases on a page of the unspent list.
    static let pageMax = 100

    /// Returns the text if it is not empty and a database can store it.
    static func text(
        _ value: String, _ field: String, bytesMax: Int = textBytesMax
    ) throws(LedgerRefusal) -> String {
        guard !value.isEmpty, value.utf8.count <= bytesMax, !value.utf8.contains(0) else {
            throw LedgerRefusal(
                .badRequest, code: "textInvalid", "The text is empty, too long or holds U+0000.",
                field: field, rule: "1 to \(bytesMax) bytes of UTF-8 without U+0000",
                remedy: "send such a text")
        }
        return value
    }

    /// Like ``text(_:_:bytesMax:)``, for a name that operators give and see in lists:
    /// without characters that control a terminal, arrange text or are invisible.
    static func label(
        _ value: String, _ field: String, bytesMax: Int = textBytesMax
    ) throws(LedgerRefusal) -> String {
        guard value.unicodeScalars.allSatisfy(VisibleText.isAllowedInName) else {
            throw LedgerRefusal(
                .badRequest, code: "textInvalid", "The name contains an invisible character.",
                field: field,
                rule: "no line ends, control, bidirectional or zero-width characters",
                remedy: "leave the character out")
        }
        return try text(value, field, bytesMax: bytesMax)
    }

    static func optional(_ value: String?, _ field: String) throws(LedgerRefusal) -> String? {
        guard let value else { return nil }
        return try text(value, field)
    }

    /// Returns a UUID in lower case, because app account tokens are UUIDs and
    /// denote one account in upper and lower case.
    static func account(
        _ value: String, _ field: String = "account"
    ) throws(LedgerRefusal) -> String {
        if let uuid = UUIDText(value) { return uuid.text }
        guard !ErasedAccount.isOne(value) else {
            throw LedgerRefusal(
                .badRequest, code: "textInvalid", "This name stands for an erased account.",
                field: field, rule: "a name that does not begin with `erased:`",
                remedy: "name another account")
        }
        return try text(value, field)
    }

    static func limit(_ value: Int?) throws(LedgerRefusal) -> Int {
        let limit = value ?? pageMax
        guard (1...pageMax).contains(limit) else {
            throw LedgerRefusal(
                .badRequest, code: "limitInvalid", "A page cannot be that long.",
                field: "limit", rule: "1 to \(pageMax)", remedy: "leave it out for the maximum")
        }
        return limit
    }
}
