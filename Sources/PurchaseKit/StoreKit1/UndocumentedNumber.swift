// SPDX-License-Identifier: Apache-2.0

/// Makes the case `_undocumented` of an open enumeration. The compiler does not
/// allow this module to use an unavailable case either, so the value is made
/// from equal bytes: every enumeration with one case with an `Int` and others
/// without has the same layout.
struct UndocumentedNumber {
    private enum Shape {
        case documented
        case undocumented(Int)
    }

    private let shape: Shape

    init(_ number: Int) {
        shape = .undocumented(number)
    }

    /// For an enumeration whose numbers have no sign.
    init(_ number: UInt) {
        self.init(Int(bitPattern: number))
    }

    func value<Open: RawRepresentable>() -> Open where Open.RawValue: BinaryInteger {
        unsafeBitCast(shape, to: Open.self)
    }
}
