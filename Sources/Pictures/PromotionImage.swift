// SPDX-License-Identifier: Apache-2.0

/// The picture of a promoted product: a PNG or JPEG of 1024 × 1024 pixels, judged by
/// its bytes. The pixels of a PNG are decompressed and its rows counted. Of a JPEG, the
/// parts around the pixels are checked, and that there are bytes enough for them.
public struct PromotionImage: Hashable, Sendable {
    public enum Format: String, CaseIterable, Sendable {
        case png, jpeg
    }

    /// Why bytes are no such picture.
    public enum Fault: Error, Hashable, Sendable {
        /// Longer than ``bytesMax``.
        case tooLong
        /// Neither a PNG nor a JPEG.
        case otherFormat
        /// It begins like a picture, and a later part of it is missing or wrong.
        case broken
        /// It has another size, in pixels.
        case otherSize(width: Int, height: Int)
    }

    /// Width and height in pixels.
    public static let side = 1024
    /// The longest picture: 4 MiB. A page shows up to 20 of them.
    public static let bytesMax = 4 << 20
    public static let rule = "a PNG or JPEG of \(side) × \(side) pixels and at most 4 MiB"

    public let format: Format

    /// With `readsPixels`, the pixels of a PNG are read too.
    public init(_ bytes: [UInt8], readsPixels: Bool = true) throws(Fault) {
        guard bytes.count <= Self.bytesMax else { throw .tooLong }
        let size: (width: Int, height: Int)
        if bytes.starts(with: PNGParts.start) {
            format = .png
            let parts = try PNGParts(bytes)
            size = (parts.width, parts.height)
            // The size bounds the work.
            guard !readsPixels || size != (Self.side, Self.side) || parts.hasPixels else {
                throw .broken
            }
        } else if bytes.starts(with: [0xFF, 0xD8, 0xFF]) {
            format = .jpeg
            var parts = JPEGParts(bytes)
            size = try parts.size()
        } else {
            throw .otherFormat
        }
        guard size == (Self.side, Self.side) else {
            throw .otherSize(width: size.width, height: size.height)
        }
    }
}

/// An image of an app: a PNG of any sides up to ``sideMax``, judged by its bytes.
public enum AppImage {
    /// Width and height in pixels at most, which bounds the work of reading one.
    public static let sideMax = 4096

    /// Whether all of a PNG is there, with its pixels.
    public static func isSound(_ bytes: [UInt8]) -> Bool {
        guard bytes.starts(with: PNGParts.start), let parts = try? PNGParts(bytes) else {
            return false
        }
        let sides = 1...sideMax
        return sides.contains(parts.width) && sides.contains(parts.height) && parts.hasPixels
    }
}

/// Reads numbers that begin with their highest byte.
private struct BigEndian {
    let bytes: [UInt8]

    /// Nil beyond the end.
    func number(at offset: Int, bytes count: Int) -> Int? {
        guard offset >= 0, offset <= bytes.count - count else { return nil }
        return bytes[offset..<(offset + count)].reduce(0) { $0 << 8 | Int($1) }
    }
}

/// The chunks of a PNG: each has its length, its type, its data and a checksum.
private struct PNGParts {
    static let start: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    private static let header = 0x4948_4452
    private static let palette = 0x504C_5445
    private static let data = 0x4944_4154
    private static let end = 0x4945_4E44
    /// Set in the types of chunks that a reader need not know.
    private static let ancillary = 0x2000_0000
    /// The bit depths of each colour type.
    private static let depths: [Int: Set<Int>] = [
        0: [1, 2, 4, 8, 16], 2: [8, 16], 3: [1, 2, 4, 8], 4: [8, 16], 6: [8, 16],
    ]
    /// The numbers that each colour type has for a pixel.
    private static let samples = [0: 1, 2: 3, 3: 1, 4: 2, 6: 4]
    private static let indexed = 3

    let width: Int
    let height: Int
    private let depth: Int
    private let colour: Int
    private let isInterlaced: Bool
    /// Of all chunks with pixels.
    private var pixels: [UInt8] = []

    /// Walks through all chunks to the last byte.
    init(_ bytes: [UInt8]) throws(PromotionImage.Fault) {
        let numbers = BigEndian(bytes: bytes)
        let first = Self.start.count
        guard numbers.number(at: first, bytes: 4) == 13,
            numbers.number(at: first + 4, bytes: 4) == Self.header,
            let width = numbers.number(at: first + 8, bytes: 4),
            let height = numbers.number(at: first + 12, bytes: 4),
            let depth = numbers.number(at: first + 16, bytes: 1),
            let colour = numbers.number(at: first + 17, bytes: 1),
            Self.depths[colour]?.contains(depth) == true,
            numbers.number(at: first + 18, bytes: 2) == 0,
            let interlace = numbers.number(at: first + 20, bytes: 1), interlace <= 1
        else { throw .broken }
        (self.width, self.height) = (width, height)
        (self.depth, self.colour) = (depth, colour)
        isInterlaced = interlace == 1
        try walk(bytes, numbers)
    }

    /// Whether the pixels are those of the rows, no more and no fewer.
    var hasPixels: Bool {
        let rows = PixelRows(
            width: width, height: height, bitsPerPixel: depth * (Self.samples[colour] ?? 1),
            isInterlaced: isInterlaced)
        return PixelStream.isSound(pixels, rows: rows)
    }

    private mutating func walk(
        _ bytes: [UInt8], _ numbers: BigEndian
    ) throws(PromotionImage.Fault) {
        var (offset, before, hasPalette) = (Self.start.count, 0, false)
        while true {
            guard let length = numbers.number(at: offset, bytes: 4),
                let type = numbers.number(at: offset + 4, bytes: 4),
                let sum = numbers.number(at: offset + 8 + length, bytes: 4),
                sum == Self.checksum(bytes[(offset + 4)..<(offset + 8 + length)])
            else { throw .broken }
            switch type {
            case Self.header: guard before == 0 else { throw .broken }
            case Self.palette:
                guard !hasPalette, pixels.isEmpty, isPalette(length) else { throw .broken }
                hasPalette = true
            case Self.data:
                guard pixels.isEmpty || before == Self.data,
                    hasPalette || colour != Self.indexed
                else { throw .broken }
                pixels += bytes[(offset + 8)..<(offset + 8 + length)]
            case Self.end:
                guard !pixels.isEmpty, length == 0, offset + 12 == bytes.count else {
                    throw .broken
                }
                return
            default: guard type & Self.ancillary != 0 else { throw .broken }
            }
            (offset, before) = (offset + 12 + length, type)
        }
    }

    /// Whether a palette may have so many bytes, three for each colour.
    private func isPalette(_ length: Int) -> Bool {
        let colours = colour == Self.indexed ? 1 << depth : 256
        return length % 3 == 0 && (1...colours).contains(length / 3) && ![0, 4].contains(colour)
    }

    /// CRC-32, as PNG defines it.
    private static func checksum(_ bytes: ArraySlice<UInt8>) -> Int {
        var sum: UInt32 = 0xFFFF_FFFF
        for byte in bytes { sum = table[Int((sum ^ UInt32(byte)) & 0xFF)] ^ (sum >> 8) }
        return Int(sum ^ 0xFFFF_FFFF)
    }

    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { value, _ in
            value & 1 == 1 ? 0xEDB8_8320 ^ (value >> 1) : value >> 1
        }
    }
}

/// The segments of a JPEG: each has a marker and a length, and a scan has its bytes behind.
private struct JPEGParts {
    /// Frames of the usual processes: baseline, extended and progressive.
    private static let frames: Set<Int> = [0xC0, 0xC1, 0xC2]
    private static let codes = 0xC4
    private static let restarts = 0xD0...0xD7
    private static let end = 0xD9
    private static let scan = 0xDA
    private static let quantities = 0xDB
    /// What may stand between the segments above: restart intervals, notes and comments.
    private static let others: Set<Int> = Set([0xDD, 0xFE] + Array(0xE0...0xEF))

    private let bytes: [UInt8]
    private let numbers: BigEndian
    private var frame: (width: Int, height: Int, components: Int)?
    private var tables: Set<Int> = []
    /// Bytes of all scans.
    private var coded = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        numbers = BigEndian(bytes: bytes)
    }

    /// Walks through all segments to the end, which is the last two bytes.
    mutating func size() throws(PromotionImage.Fault) -> (width: Int, height: Int) {
        var offset = 2
        while true {
            guard let place = marker(from: offset) else { throw .broken }
            let marker = Int(bytes[place])
            if marker == Self.end {
                guard place == bytes.count - 1, let frame, coded >= Self.least(frame) else {
                    throw .broken
                }
                return (frame.width, frame.height)
            }
            guard let length = numbers.number(at: place + 1, bytes: 2), length >= 2,
                place + 1 + length < bytes.count
            else { throw .broken }
            try take(marker, at: place + 3, length - 2)
            offset = place + 1 + length
            if marker == Self.scan { offset = skipScan(from: offset) }
        }
    }

    /// The place of a marker's second byte. Any number of 0xFF may be before it.
    private func marker(from offset: Int) -> Int? {
        guard offset < bytes.count, bytes[offset] == 0xFF else { return nil }
        return bytes[offset...].firstIndex { $0 != 0xFF }
    }

    private mutating func take(
        _ marker: Int, at offset: Int, _ length: Int
    ) throws(PromotionImage.Fault) {
        switch marker {
        case _ where Self.frames.contains(marker):
            guard frame == nil, length >= 6,
                let height = numbers.number(at: offset + 1, bytes: 2),
                let width = numbers.number(at: offset + 3, bytes: 2),
                let components = numbers.number(at: offset + 5, bytes: 1),
                (1...4).contains(components), length == 6 + 3 * components
            else { throw .broken }
            frame = (width, height, components)
        case Self.scan:
            guard let frame, let components = numbers.number(at: offset, bytes: 1),
                (1...frame.components).contains(components), length == 4 + 2 * components,
                tables == [Self.codes, Self.quantities]
            else { throw .broken }
        case Self.codes, Self.quantities: tables.insert(marker)
        default: guard Self.others.contains(marker) else { throw .broken }
        }
    }

    /// Counts the bytes of a scan and returns where the next segment begins.
    private mutating func skipScan(from start: Int) -> Int {
        var offset = start
        while offset < bytes.count {
            if bytes[offset] == 0xFF, offset + 1 < bytes.count {
                let next = Int(bytes[offset + 1])
                guard next == 0 || Self.restarts.contains(next) else { break }
                offset += 1
            }
            offset += 1
        }
        coded += offset - start
        return offset
    }

    /// The fewest bytes that code a picture. Each block of 8 × 8 pixels has a code of its
    /// own for its brightness, and no code is shorter than a bit.
    private static func least(_ frame: (width: Int, height: Int, components: Int)) -> Int {
        max(1, (frame.width + 7) / 8 * ((frame.height + 7) / 8) / 8)
    }
}
