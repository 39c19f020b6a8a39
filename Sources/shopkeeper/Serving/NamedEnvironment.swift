// SPDX-License-Identifier: Apache-2.0

import Commerce
import StoreWire

/// The environment in an option.
enum NamedEnvironment {
    /// Upper and lower case make no difference. Nil without a word.
    static func parse(_ word: String?) throws -> Environment? {
        guard let word else { return nil }
        let known = Environment.known.first { $0.rawValue.lowercased() == word.lowercased() }
        guard let known else {
            throw Failure(
                .usage, "environmentUnknown", "There is no environment `\(word)`.",
                field: "--environment",
                rule: Environment.known.map(\.rawValue).joined(separator: ", "),
                remedy: "leave it out for a sandbox")
        }
        return known
    }
}

extension ServeOptions {
    /// The environment of a new default realm.
    func realmEnvironment() throws -> Environment? { try NamedEnvironment.parse(environment) }
}
