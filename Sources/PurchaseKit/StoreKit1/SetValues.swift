// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The values that a test has set by name. Apple's classes can be filled that way,
/// because they have key-value coding, which this platform lacks. A class with a
/// lock, because any thread may read a product.
final class SetValues: @unchecked Sendable {
    private let lock = NSLock()
    private var values: [String: Any] = [:]

    /// Returns what was set for `key`. Nil if nothing was.
    func value<Value>(_ key: String) -> Value? {
        lock.withLock { values[key] } as? Value
    }

    /// Like ``value(_:)`` for a property that is optional itself: `.some(nil)` if it
    /// was set to nil.
    func optional<Value>(_ key: String) -> Value?? {
        guard let found = lock.withLock({ values[key] }) else { return nil }
        return .some(found as? Value)
    }

    /// A key that is not one of `keys` is a programming error, as on Apple's
    /// platforms.
    func set(_ value: Any?, _ key: String, keys: Set<String>) {
        precondition(keys.contains(key), "this class has no property \"\(key)\" to set")
        lock.withLock { values[key] = value ?? NSNull() }
    }
}
