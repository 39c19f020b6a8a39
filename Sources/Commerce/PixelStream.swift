// SPDX-License-Identifier: Apache-2.0

/// Decompresses the pixels of a PNG and judges its rows, without keeping more than the
/// window of the format. It ends at the first byte that the rows have no place for.
struct PixelStream {
    private struct Spoilt: Error {}

    /// How far back a repetition reaches.
    private static let windowBytes = 1 << 15

    private let bytes: [UInt8]
    private var next = 0
    /// Bits that were read and not used, the next one lowest.
    private var buffer: UInt32 = 0
    private var held = 0
    private var window = [UInt8](repeating: 0, count: PixelStream.windowBytes)
    private var written = 0
    private var rows: PixelRows
    private var low: UInt32 = 1
    private var high: UInt32 = 0

    private init(_ bytes: [UInt8], _ rows: PixelRows) {
        self.bytes = bytes
        self.rows = rows
    }

    /// Whether a zlib stream holds exactly these rows.
    static func isSound(_ bytes: [UInt8], rows: PixelRows) -> Bool {
        var stream = PixelStream(bytes, rows)
        do throws(Spoilt) {
            try stream.read()
            return true
        } catch {
            return false
        }
    }

    private mutating func read() throws(Spoilt) {
        let method = try bits(8)
        let flags = try bits(8)
        guard method & 0x0F == 8, method >> 4 <= 7, flags & 0x20 == 0,
            (method << 8 | flags) % 31 == 0
        else { throw Spoilt() }
        var isLast = false
        while !isLast {
            isLast = try bits(1) == 1
            switch try bits(2) {
            case 0: try stored()
            case 1: try codes(DeflateCodes.fixedLengths, DeflateCodes.fixedDistances)
            case 2: try coded()
            default: throw Spoilt()
            }
        }
        align()
        var sum: UInt32 = 0
        for _ in 0..<4 {
            let byte = try bits(8)
            sum = sum << 8 | UInt32(byte)
        }
        guard rows.isComplete, next == bytes.count,
            sum == (high % 65_521) << 16 | (low % 65_521)
        else { throw Spoilt() }
    }

    private mutating func bits(_ count: Int) throws(Spoilt) -> Int {
        while held < count {
            guard next < bytes.count else { throw Spoilt() }
            buffer |= UInt32(bytes[next]) << UInt32(held)
            next += 1
            held += 8
        }
        let mask: UInt32 = (1 << UInt32(count)) - 1
        let value = buffer & mask
        buffer >>= UInt32(count)
        held -= count
        return Int(value)
    }

    /// Drops the bits up to the next byte.
    private mutating func align() { (buffer, held) = (0, 0) }

    private mutating func put(_ byte: UInt8) throws(Spoilt) {
        guard rows.take(byte) else { throw Spoilt() }
        window[written & (Self.windowBytes - 1)] = byte
        written += 1
        low += UInt32(byte)
        high += low
        if written & 0xFFF == 0 { (low, high) = (low % 65_521, high % 65_521) }
    }

    private mutating func stored() throws(Spoilt) {
        align()
        let count = try bits(16)
        guard try bits(16) == count ^ 0xFFFF else { throw Spoilt() }
        for _ in 0..<count {
            let byte = try bits(8)
            try put(UInt8(byte))
        }
    }

    /// A block that begins with its own codes.
    private mutating func coded() throws(Spoilt) {
        let literals = try bits(5) + 257
        let distances = try bits(5) + 1
        let count = try bits(4) + 4
        guard literals <= 286, distances <= 30 else { throw Spoilt() }
        var short = [Int](repeating: 0, count: 19)
        for place in DeflateCodes.order.prefix(count) { short[place] = try bits(3) }
        guard let code = DeflateCodes(short) else { throw Spoilt() }
        var lengths: [Int] = []
        while lengths.count < literals + distances {
            let symbol = try self.symbol(code)
            switch symbol {
            case 16:
                guard let last = lengths.last else { throw Spoilt() }
                let count = try bits(2) + 3
                lengths += Array(repeating: last, count: count)
            case 17:
                let count = try bits(3) + 3
                lengths += Array(repeating: 0, count: count)
            case 18:
                let count = try bits(7) + 11
                lengths += Array(repeating: 0, count: count)
            default: lengths.append(symbol)
            }
        }
        guard lengths.count == literals + distances, lengths[256] > 0,
            let first = DeflateCodes(Array(lengths[..<literals])),
            let second = DeflateCodes(Array(lengths[literals...]))
        else { throw Spoilt() }
        try codes(first, second)
    }

    private mutating func codes(
        _ lengths: DeflateCodes, _ distances: DeflateCodes
    ) throws(Spoilt) {
        while true {
            let symbol = try self.symbol(lengths)
            if symbol < 256 {
                try put(UInt8(symbol))
                continue
            }
            if symbol == 256 { return }
            guard symbol - 257 < DeflateCodes.lengthBases.count else { throw Spoilt() }
            let more = try bits(DeflateCodes.lengthBits[symbol - 257])
            let place = try self.symbol(distances)
            guard place < DeflateCodes.distanceBases.count else { throw Spoilt() }
            let far = try bits(DeflateCodes.distanceBits[place])
            try again(
                DeflateCodes.lengthBases[symbol - 257] + more,
                from: DeflateCodes.distanceBases[place] + far)
        }
    }

    /// Repeats bytes that were written before.
    private mutating func again(_ count: Int, from distance: Int) throws(Spoilt) {
        guard distance <= written else { throw Spoilt() }
        for _ in 0..<count {
            try put(window[(written - distance) & (Self.windowBytes - 1)])
        }
    }

    private mutating func symbol(_ codes: DeflateCodes) throws(Spoilt) -> Int {
        var (code, first, index) = (0, 0, 0)
        for length in 1...15 {
            code |= try bits(1)
            let count = codes.counts[length]
            if code - first < count { return codes.symbols[index + code - first] }
            index += count
            first = (first + count) << 1
            code <<= 1
        }
        throw Spoilt()
    }
}

/// A set of codes of RFC 1951, by the lengths of its codes.
private struct DeflateCodes {
    /// How many codes have a length.
    let counts: [Int]
    /// By code.
    let symbols: [Int]

    /// Nil if the codes are more than there can be, or fewer: only a single code need
    /// not fill its length.
    init?(_ lengths: [Int]) {
        var counts = [Int](repeating: 0, count: 16)
        for length in lengths where length > 0 { counts[length] += 1 }
        var left = 1
        for length in 1...15 {
            left = (left << 1) - counts[length]
            guard left >= 0 else { return nil }
        }
        guard left == 0 || counts[2...].allSatisfy({ $0 == 0 }) else { return nil }
        self.counts = counts
        symbols = (1...15).flatMap { length in
            lengths.indices.filter { lengths[$0] == length }
        }
    }

    private init(counts: [Int], symbols: [Int]) {
        self.counts = counts
        self.symbols = symbols
    }

    /// The order in which a block has the lengths of the codes for its lengths.
    static let order = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]
    static let lengthBases = [
        3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115,
        131, 163, 195, 227, 258,
    ]
    static let lengthBits = [
        0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0,
    ]
    static let distanceBases = [
        1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025,
        1537, 2049, 3073, 4097, 6145, 8193, 12_289, 16_385, 24_577,
    ]
    static let distanceBits = [
        0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12,
        12, 13, 13,
    ]

    /// The codes of a block that brings none: 7 bits for the symbols from 256 on, 8 for
    /// those below 144 and from 280 on, and 9 for the others.
    static let fixedLengths: DeflateCodes = {
        var counts = [Int](repeating: 0, count: 16)
        (counts[7], counts[8], counts[9]) = (24, 152, 112)
        return DeflateCodes(
            counts: counts,
            symbols: Array(256..<280) + Array(0..<144) + Array(280..<288) + Array(144..<256))
    }()

    static let fixedDistances: DeflateCodes = {
        var counts = [Int](repeating: 0, count: 16)
        counts[5] = 32
        return DeflateCodes(counts: counts, symbols: Array(0..<32))
    }()
}

/// The rows that a PNG of a size has, each with its filter in front.
struct PixelRows {
    private struct Pass {
        let rowBytes: Int
        var rows: Int
    }

    /// Where the seven passes of an interlaced picture begin, and how far their pixels
    /// are apart.
    private static let passes = [
        (0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2),
        (0, 1, 1, 2),
    ]
    /// The highest number of a filter.
    private static let filterMax: UInt8 = 4

    /// The next one last.
    private var passes: [Pass]
    /// Bytes that the row lacks.
    private var left = 0

    init(width: Int, height: Int, bitsPerPixel: Int, isInterlaced: Bool) {
        let parts = isInterlaced ? Self.passes : [(0, 0, 1, 1)]
        var passes: [Pass] = []
        for (x, y, across, down) in parts {
            let columns = max(0, (width - x + across - 1) / across)
            let rows = max(0, (height - y + down - 1) / down)
            guard columns > 0, rows > 0 else { continue }
            passes.append(Pass(rowBytes: (columns * bitsPerPixel + 7) / 8, rows: rows))
        }
        self.passes = passes.reversed()
    }

    var isComplete: Bool { left == 0 && passes.isEmpty }

    /// False for a byte beyond the last row, and for an unknown filter.
    mutating func take(_ byte: UInt8) -> Bool {
        guard left == 0 else {
            left -= 1
            return true
        }
        guard byte <= Self.filterMax, let pass = passes.last else { return false }
        left = pass.rowBytes
        passes[passes.count - 1].rows -= 1
        if pass.rows == 1 { passes.removeLast() }
        return true
    }
}
