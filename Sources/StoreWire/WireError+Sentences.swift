// SPDX-License-Identifier: Apache-2.0

extension WireError {
    /// The message and the remedy as sentences, each with a capital letter and
    /// a full stop. A remedy has neither, because it is also used after a
    /// colon.
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
