// SPDX-License-Identifier: Apache-2.0

/// Compares secrets in a time that reveals nothing but their lengths.
func constantTimeEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    guard left.count == right.count else { return false }
    var difference: UInt8 = 0
    for (one, other) in zip(left, right) { difference |= one ^ other }
    return difference == 0
}
