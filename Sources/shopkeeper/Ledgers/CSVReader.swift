// SPDX-License-Identifier: Apache-2.0

/// A record of a CSV file.
struct CSVRecord: Equatable {
    /// The number of the line on which it begins.
    let line: Int
    var fields: [[UInt8]] = []
    /// The rule that it breaks. Nil if it can be read.
    var brokenRule: String?
}

/// Reads a CSV file record by record, as RFC 4180 writes them: a field in quotes may
/// contain commas, line ends and doubled quotes, and spaces belong to their field. A line
/// may also end with a line feed alone.
///
/// A record with a quote in the wrong place ends with its line. After a quote that is
/// never closed nothing is read, because all of it may be in that field.
struct CSVReader {
    private static let (quote, comma, lineFeed, carriageReturn) =
        (UInt8(0x22), UInt8(0x2C), UInt8(0x0A), UInt8(0x0D))

    private let bytes: [UInt8]
    private var position = 0
    private var line = 1

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Nil at the end of the file.
    mutating func next() -> CSVRecord? {
        guard position < bytes.count else { return nil }
        var record = CSVRecord(line: line)
        repeat {
            let isQuoted = position < bytes.count && bytes[position] == Self.quote
            let (field, brokenRule) = isQuoted ? quoted() : plain()
            record.fields.append(field)
            if let brokenRule {
                record.brokenRule = brokenRule
                skipLine()
                return record
            }
        } while passes(Self.comma)
        endLine()
        return record
    }

    /// Reads up to a comma or the end of the line.
    private mutating func plain() -> (field: [UInt8], brokenRule: String?) {
        let start = position
        while position < bytes.count, bytes[position] != Self.comma, !isAtLineEnd {
            guard bytes[position] != Self.quote, bytes[position] != Self.carriageReturn else {
                return ([], "quotes around a field with a quote or a line end, its quotes doubled")
            }
            position += 1
        }
        return (Array(bytes[start..<position]), nil)
    }

    /// Reads from a quote to the one that closes it.
    private mutating func quoted() -> (field: [UInt8], brokenRule: String?) {
        var field: [UInt8] = []
        position += 1
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            if byte == Self.quote, !passes(Self.quote) {
                guard position == bytes.count || bytes[position] == Self.comma || isAtLineEnd
                else { return ([], "a comma or the end of the line after a closing quote") }
                return (field, nil)
            }
            if byte == Self.lineFeed { line += 1 }
            field.append(byte)
        }
        return ([], "a closing quote: the lines after the open one were not read")
    }

    private var isAtLineEnd: Bool {
        let end =
            bytes[position] == Self.carriageReturn ? position + 1 : position
        return end == bytes.count || bytes[end] == Self.lineFeed
    }

    private mutating func passes(_ byte: UInt8) -> Bool {
        guard position < bytes.count, bytes[position] == byte else { return false }
        position += 1
        return true
    }

    private mutating func endLine() {
        _ = passes(Self.carriageReturn)
        if passes(Self.lineFeed) { line += 1 }
    }

    private mutating func skipLine() {
        while position < bytes.count, bytes[position] != Self.lineFeed { position += 1 }
        endLine()
    }
}
