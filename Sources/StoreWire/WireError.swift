// SPDX-License-Identifier: Apache-2.0

/// The body of every unsuccessful answer of our own protocols: what was wrong,
/// where, by which rule, and what to do about it.
public struct WireError: Error, Hashable, Sendable, Codable {
    /// A code that programs can compare. An open set, so that older clients may
    /// receive newer codes.
    public let code: String
    /// One sentence.
    public let message: String
    /// The field, part of the path, header or option that is at fault, if there
    /// is one.
    public let field: String?
    /// The rule that was broken.
    public let rule: String?
    /// What to do about it.
    public let remedy: String?

    public init(
        code: String, message: String, field: String? = nil, rule: String? = nil,
        remedy: String? = nil
    ) {
        self.code = code
        self.message = message
        self.field = field
        self.rule = rule
        self.remedy = remedy
    }
}
