// SPDX-License-Identifier: Apache-2.0

/// Where the store's use cases write what happened. Secrets and personal
/// data never reach it: numbers, ids and codes only.
public struct ShopLog: Sendable {
    public enum Level: String, Sendable, CaseIterable {
        case debug, info, warning, error
    }

    private let write: @Sendable (Level, String, [String: String]) -> Void

    /// `write` takes a level, one plain sentence and its facts.
    public init(_ write: @escaping @Sendable (Level, String, [String: String]) -> Void) {
        self.write = write
    }

    /// Writes nothing.
    public static let silent = ShopLog { _, _, _ in }

    func callAsFunction(
        _ level: Level, _ message: String, _ context: RequestContext? = nil,
        _ facts: [String: String] = [:]
    ) {
        var facts = facts
        if let context { facts["requestId"] = context.requestID }
        write(level, message, facts)
    }
}
