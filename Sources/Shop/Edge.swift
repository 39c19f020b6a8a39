// SPDX-License-Identifier: Apache-2.0

import Commerce

/// The rules that words from outside keep before anything reads them.
enum Edge {
    /// Longest text of a field, in UTF-8 bytes, unless a field has its own.
    static let textBytesMax = 255
    /// The app's own word for its user may be longer than a name.
    static let usernameBytesMax = 1024

    /// Text that a database and a log line can hold: no U+0000, not too long.
    static func text(_ value: String, _ field: String, bytesMax: Int = textBytesMax) throws {
        guard !value.utf8.contains(0) else {
            throw Refusal(
                .badRequest, code: "textInvalid", "The text holds the character U+0000.",
                field: field, rule: "text is Unicode without U+0000",
                remedy: "leave the character out")
        }
        guard value.utf8.count <= bytesMax else {
            throw Refusal(
                .badRequest, code: "textTooLong", "The text is too long.", field: field,
                rule: "at most \(bytesMax) bytes of UTF-8", remedy: "shorten it")
        }
    }

    /// As ``text(_:_:bytesMax:)``, and not empty.
    static func name(_ value: String, _ field: String, bytesMax: Int = textBytesMax) throws {
        try text(value, field, bytesMax: bytesMax)
        guard !value.isEmpty else {
            throw Refusal(
                .badRequest, code: "textEmpty", "The text is empty.", field: field,
                rule: "1 to \(bytesMax) bytes of UTF-8", remedy: "give it")
        }
    }

    /// As ``text(_:_:bytesMax:)``, and fit to be shown in a list: it neither steers
    /// a terminal nor hides from its reader.
    static func label(_ value: String, _ field: String, bytesMax: Int = textBytesMax) throws {
        try text(value, field, bytesMax: bytesMax)
        guard value.unicodeScalars.allSatisfy(VisibleText.isAllowedInName) else {
            throw Refusal(
                .badRequest, code: "textInvalid",
                "The text holds a character that cannot be seen.", field: field,
                rule: "no line ends, control, bidirectional or zero-width characters",
                remedy: "leave the character out")
        }
    }

    /// Longest address of a mailbox: RFC 5321 leaves no room for more.
    static let emailBytesMax = 254

    /// An address that a person could have: whether mail arrives, only mail
    /// can tell.
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

    /// A number in decimal digits; nil when `value` is none.
    static func number(_ value: String) -> Int64? {
        guard (1...19).contains(value.utf8.count),
            value.utf8.allSatisfy({ (48...57).contains($0) })
        else { return nil }
        return Int64(value)
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
