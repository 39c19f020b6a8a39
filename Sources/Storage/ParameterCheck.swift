// SPDX-License-Identifier: Apache-2.0

extension StorageFault.Code {
    /// The values do not match the statement's declared parameters. This is a
    /// bug.
    public static let parameters = StorageFault.Code("parameters")
    /// A text contains U+0000. One engine truncates such text and another
    /// rejects it.
    public static let invalidText = StorageFault.Code("invalidText")
}

extension Statement {
    /// Checks the values against the declared parameters, in the same way for
    /// every engine: the number of values, their types (null fits every type),
    /// and that no text contains U+0000.
    public func check(_ values: [SQLValue]) throws(StorageFault) {
        guard values.count == parameters.count else {
            throw StorageFault(
                .parameters,
                "\(name) declares \(parameters.count) parameters and was given \(values.count)")
        }
        for (index, value) in values.enumerated() {
            guard let type = value.type else { continue }
            guard type == parameters[index] else {
                throw StorageFault(
                    .parameters,
                    "\(name) declares $\(index + 1) as \(parameters[index].rawValue) "
                        + "and was given \(type.rawValue)")
            }
            if case .text(let text) = value, text.hasZero {
                throw StorageFault(
                    .invalidText,
                    "\(name): $\(index + 1) holds U+0000; refuse such text where it comes in")
            }
        }
    }
}

extension String {
    /// Whether it contains U+0000. Looks at eight bytes at a time.
    fileprivate var hasZero: Bool {
        utf8.withContiguousStorageIfAvailable { text in
            let bytes = UnsafeRawBufferPointer(text)
            var place = 0
            while place + 8 <= bytes.count {
                let word = bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self)
                // The high bit of a byte is set where it is zero.
                if (word &- 0x0101_0101_0101_0101) & ~word & 0x8080_8080_8080_8080 != 0 {
                    return true
                }
                place += 8
            }
            return bytes[place...].contains(0)
        } ?? utf8.contains(0)
    }
}

extension SQLValue {
    /// The type of the value. Nil for null, which fits every type.
    public var type: SQLType? {
        switch self {
        case .null: nil
        case .integer: .integer
        case .text: .text
        case .blob: .blob
        case .boolean: .boolean
        }
    }
}
