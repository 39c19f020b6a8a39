// SPDX-License-Identifier: Apache-2.0

/// A key that several threads use.
///
/// `@unchecked`: swift-crypto 4 declares that its keys may be shared. Version 3
/// has the same immutable values and does not declare it.
struct SharedKey<Key>: @unchecked Sendable {
    let value: Key

    init(_ value: Key) { self.value = value }
}
