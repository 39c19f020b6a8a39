// SPDX-License-Identifier: Apache-2.0

import HTTPShell
import Shop

/// The fields of a form, as a browser sends them: `name=Ann+Lee&answer=approved`.
struct PageForm: Sendable {
    private let fields: [String: String]

    /// Refusal: `formInvalid`, also for a field that comes twice.
    init(_ bytes: [UInt8]) throws {
        var fields: [String: String] = [:]
        for part in bytes.split(separator: UInt8(ascii: "&")) {
            let pair = part.split(
                separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Self.text(pair[0]),
                let value = pair.count == 2 ? Self.text(pair[1]) : "",
                fields.updateValue(value, forKey: name) == nil
            else { throw Self.invalid }
        }
        self.fields = fields
    }

    /// The value of a field. Empty for one that was not sent.
    subscript(name: String) -> String { fields[name] ?? "" }

    private static func text(_ encoded: ArraySlice<UInt8>) -> String? {
        let spaced = encoded.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 }
        guard let raw = String(validating: spaced, as: UTF8.self),
            let text = PercentEncoding.decode(raw), !text.utf8.contains(0)
        else { return nil }
        return text
    }

    static let foreign = Refusal(
        .forbidden, code: "formForeign", "This form was not sent from a page of this store.",
        field: "form", rule: "the token that the page's form carries",
        remedy: "open the page again, and send its form")

    static let invalid = Refusal(
        .badRequest, code: "formInvalid", "This is not a form.", field: "body",
        rule: "fields that are URL-encoded, each once", remedy: "send the page's form")
}
