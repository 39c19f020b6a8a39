// SPDX-License-Identifier: Apache-2.0

import Commerce

/// The rules for foreign text, applied before anything else reads it.
enum Edge {
    /// The longest text of a field in UTF-8 bytes, unless the field has its own
    /// limit.
    static let textBytesMax = 255
    /// The app's own name for its user may be longer than other texts.
    static let usernameBytesMax = 1024

    /// Throws unless a database and a log line can contain the text: no U+0000,
    /// and not too long.
    static func text(_ value: String, _ field: String, bytesMax: Int = textBytesMax) throws {
        guard !value.utf8.contains(0) else {
            throw Refusal(
                .badRequest, code: "textInvalid", "The text contains the character U+0000.",
                field: field, rule: "text is Unicode without U+0000",
                remedy: "leave the character out")
        }
        guard value.utf8.count <= bytesMax else {
            throw Refusal(
                .badRequest, code: "textTooLong", "The text is too long.", field: field,
                rule: "at most \(bytesMax) bytes of UTF-8", remedy: "shorten it")
        }
    }

    /// Like ``text(_:_:bytesMax:)``, and the text must not be empty.
    static func name(_ value: String, _ field: String, bytesMax: Int = textBytesMax) throws {
        try text(value, field, bytesMax: bytesMax)
        guard !value.isEmpty else {
            throw Refusal(
                .badRequest, code: "textEmpty", "The text is empty.", field: field,
                rule: "1 to \(bytesMax) bytes of UTF-8", remedy: "give it")
        }
    }

    /// Like ``text(_:_:bytesMax:)``, and the text must be suitable for a list:
    /// without characters that control a terminal or are invisible.
    static func label(_ value: String, _ field: String, bytesMax: Int = textBytesMax) throws {
        try text(value, field, bytesMax: bytesMax)
        guard value.unicodeScalars.allSatisfy(VisibleText.isAllowedInName) else {
            throw invisible(value, field, "no line ends, control, ")
        }
    }

    /// Like ``label(_:_:bytesMax:)``, but line ends are allowed.
    static func prose(_ value: String, _ field: String, bytesMax: Int) throws {
        try text(value, field, bytesMax: bytesMax)
        guard value.unicodeScalars.allSatisfy(VisibleText.isAllowedInLines) else {
            throw invisible(value, field, "no control characters but line ends, no ")
        }
    }

    /// Names the first character that cannot be seen, or else the line end.
    private static func invisible(
        _ value: String, _ field: String, _ beginning: String
    ) -> Refusal {
        let hidden = value.unicodeScalars.first { !VisibleText.isAllowedInLines($0) } ?? "\n"
        return Refusal(
            .badRequest, code: "textInvalid", "The text contains an invisible character.",
            field: field, rule: beginning + "bidirectional or zero-width characters",
            remedy: "leave out \(VisibleText.name(of: hidden))")
    }

    /// The longest e-mail address. RFC 5321 has no room for more.
    static let emailBytesMax = 254

    /// Throws unless the text has the form of an e-mail address. Whether it
    /// exists can only be tested by sending mail.
    static func email(_ value: String, _ field: String) throws {
        let sides = value.split(separator: "@", omittingEmptySubsequences: false)
        let isPlain = value.unicodeScalars.allSatisfy {
            !$0.properties.isWhitespace
                && ![.control, .format].contains($0.properties.generalCategory)
        }
        guard value.utf8.count <= emailBytesMax, isPlain, sides.count == 2,
            sides.allSatisfy({ !$0.isEmpty })
        else {
            throw Refusal(
                .badRequest, code: "emailInvalid", "This is not an e-mail address.",
                field: field,
                rule: "at most \(emailBytesMax) bytes of UTF-8, one `@` between other "
                    + "characters, no spaces, control or invisible characters",
                remedy: "give one such as `ann@example.com`")
        }
    }

    /// Whether a request is to pay in monthly parts. Refusal: `billingPlanUnknown`.
    static func isCommitted(_ plan: String?) throws -> Bool {
        guard let plan else { return false }
        guard let kind = BillingPlan.Kind(rawValue: plan) else {
            throw Refusal(
                .badRequest, code: "billingPlanUnknown", "There is no such billing plan.",
                field: "billingPlan",
                rule: BillingPlan.Kind.allCases.map { "`\($0.rawValue)`" }.joined(separator: ", "),
                remedy: "leave it out to pay at once")
        }
        return kind == .monthly
    }

    static func uuid(_ value: String, _ field: String) throws -> UUIDText {
        guard let uuid = UUIDText(value) else {
            throw Refusal(
                .badRequest, code: "uuidInvalid", "This is not a UUID.", field: field,
                rule: "36 characters: hexadecimal digits in groups of 8, 4, 4, 4 and 12, "
                    + "joined by `-`",
                remedy: "make one and keep it for as long as the thing it names")
        }
        return uuid
    }

    /// Parses decimal digits. Nil if `value` is not a number, or not as the store
    /// writes it.
    static func number(_ value: String) -> Int64? {
        guard value.utf8.count <= 19, isNumber(value) else { return nil }
        return Int64(value)
    }

    /// Whether the text is a number as the store writes it, of any length: digits,
    /// without a sign and without zeros before it. So every number has one text.
    static func isNumber(_ value: String) -> Bool {
        guard let first = value.utf8.first, value.utf8.allSatisfy({ (48...57).contains($0) })
        else { return false }
        return first != 48 || value.utf8.count == 1
    }

    static func currency(_ code: String, _ field: String) throws -> Currency {
        guard let currency = Currency(code: code) else {
            throw Refusal(
                .badRequest, code: "currencyInvalid", "This is not a currency.", field: field,
                rule: "three letters A–Z of ISO 4217",
                remedy: "send the currency that the product was listed with")
        }
        return currency
    }

    static func price(_ milliunits: Int64, _ field: String) throws -> Amount {
        guard (0...Amount.milliunitsMax).contains(milliunits) else {
            throw Refusal(
                .badRequest, code: "priceInvalid", "This is not a price.", field: field,
                rule: "0 to \(Amount.milliunitsMax) thousandths of the currency's unit",
                remedy: "send the price that the product was listed with")
        }
        return Amount(milliunits: milliunits)
    }
}
