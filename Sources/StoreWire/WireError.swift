// SPDX-License-Identifier: Apache-2.0

/// The body of every answer of ours that is not a success: what was wrong,
/// where, by which rule, and what to do about it.
public struct WireError: Error, Hashable, Sendable, Codable {
    /// A word that programs may compare; open, so that older readers meet newer words.
    public let code: String
    /// One plain sentence.
    public let message: String
    /// The field, path part, header or option at fault, where there is one.
    public let field: String?
    /// The rule it broke.
    public let rule: String?
    /// What to do.
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
