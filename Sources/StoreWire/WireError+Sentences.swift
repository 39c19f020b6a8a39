// SPDX-License-Identifier: Apache-2.0

extension WireError {
    /// What happened and what to do, as sentences for a person: each begins
    /// with a capital letter and ends with a stop. A remedy is written to stand
    /// behind a colon too, so it has neither.
    public var sentences: String {
        [message, remedy].compactMap { $0 }.filter { !$0.isEmpty }
            .map(Self.sentence).joined(separator: " ")
    }

    private static func sentence(_ text: String) -> String {
        let first = text.prefix(1)
        let isName = text.hasPrefix("shopkeeper ")
        let isEnded = text.last.map { ".!?…".contains($0) } ?? false
        return (isName ? String(first) : first.uppercased()) + text.dropFirst()
            + (isEnded ? "" : ".")
    }
}
