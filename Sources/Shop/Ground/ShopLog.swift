// SPDX-License-Identifier: Apache-2.0

/// The log of the store's use cases. It contains numbers, ids and codes only,
/// and never secrets or personal data.
public struct ShopLog: Sendable {
    public enum Level: String, Sendable, CaseIterable {
        case debug, info, warning, error
    }

    private let write: @Sendable (Level, String, [String: String]) -> Void

    /// `write` receives a level, one sentence and its facts.
    public init(_ write: @escaping @Sendable (Level, String, [String: String]) -> Void) {
        self.write = write
    }

    /// A log that discards everything.
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
