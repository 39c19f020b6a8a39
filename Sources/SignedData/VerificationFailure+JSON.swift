// SPDX-License-Identifier: Apache-2.0

extension VerificationFailure {
    /// What is wrong with JSON that has another form: the field and the rule, and no value.
    static func reason(_ error: any Error) -> String {
        let context: DecodingError.Context
        switch error as? DecodingError {
        case nil: return "\(error)"
        case .typeMismatch(_, let found), .valueNotFound(_, let found),
            .keyNotFound(_, let found), .dataCorrupted(let found):
            context = found
        case .some: return "it has another form"
        }
        let field = context.codingPath.map(\.stringValue).joined(separator: ".")
        let rule = context.debugDescription
        return field.isEmpty ? rule : "`\(field)`: \(rule)"
    }
}
