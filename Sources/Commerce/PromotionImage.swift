// SPDX-License-Identifier: Apache-2.0

/// The picture of a promoted product: a PNG or JPEG of 1024 × 1024 pixels, judged by
/// its bytes. The parts around the pixels are checked. The pixels are not decoded.
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

    public init(_ bytes: [UInt8]) throws(Fault) {
        guard bytes.count <= Self.bytesMax else { throw .tooLong }
        let size: (width: Int, height: Int)
        if bytes.starts(with: PNGParts.start) {
            format = .png
            size = try PNGParts(bytes).size()
        } else if bytes.starts(with: [0xFF, 0xD8, 0xFF]) {
            format = .jpeg
            size = try JPEGParts(bytes).size()
        } else {
            throw .otherFormat
        }
        guard size == (Self.side, Self.side) else {
            throw .otherSize(width: size.width, height: size.height)
        }
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
    private static let data = 0x4944_4154
    private static let end = 0x4945_4E44
    /// The bit depths of each colour type.
    private static let depths: [Int: Set<Int>] = [
        0: [1, 2, 4, 8, 16], 2: [8, 16], 3: [1, 2, 4, 8], 4: [8, 16], 6: [8, 16],
    ]

    private let bytes: [UInt8]
    private let numbers: BigEndian

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        numbers = BigEndian(bytes: bytes)
    }

    /// Walks through all chunks to the last byte.
    func size() throws(PromotionImage.Fault) -> (width: Int, height: Int) {
        var (offset, hasData) = (Self.start.count, false)
        let size = try headerSize()
        while true {
            guard let length = numbers.number(at: offset, bytes: 4),
                let type = numbers.number(at: offset + 4, bytes: 4),
                let sum = numbers.number(at: offset + 8 + length, bytes: 4),
                sum == Self.checksum(bytes[(offset + 4)..<(offset + 8 + length)])
            else { throw .broken }
            offset += 12 + length
            if type == Self.data, length > 0 { hasData = true }
            guard type == Self.end else { continue }
            guard hasData, length == 0, offset == bytes.count else { throw .broken }
            return size
        }
    }

    private func headerSize() throws(PromotionImage.Fault) -> (width: Int, height: Int) {
        let first = Self.start.count
        guard numbers.number(at: first, bytes: 4) == 13,
            numbers.number(at: first + 4, bytes: 4) == Self.header,
            let width = numbers.number(at: first + 8, bytes: 4),
            let height = numbers.number(at: first + 12, bytes: 4),
            let depth = numbers.number(at: first + 16, bytes: 1),
            let colour = numbers.number(at: first + 17, bytes: 1),
            Self.depths[colour]?.contains(depth) == true
        else { throw .broken }
        return (width, height)
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

/// The segments of a JPEG up to its first scan: each has a marker and a length.
private struct JPEGParts {
    /// Frames of the usual processes: baseline, extended and progressive.
    private static let frames: Set<Int> = [0xC0, 0xC1, 0xC2]
    private static let scan = 0xDA
    private static let end = 0xFFD9

    private let bytes: [UInt8]
    private let numbers: BigEndian

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        numbers = BigEndian(bytes: bytes)
    }

    func size() throws(PromotionImage.Fault) -> (width: Int, height: Int) {
        guard numbers.number(at: bytes.count - 2, bytes: 2) == Self.end else { throw .broken }
        var (offset, size) = (2, (width: 0, height: 0))
        while true {
            guard numbers.number(at: offset, bytes: 1) == 0xFF,
                let marker = numbers.number(at: offset + 1, bytes: 1),
                let length = numbers.number(at: offset + 2, bytes: 2), length >= 2,
                offset + 2 + length <= bytes.count - 2
            else { throw .broken }
            if Self.frames.contains(marker) {
                guard size == (0, 0), length >= 8,
                    let height = numbers.number(at: offset + 5, bytes: 2),
                    let width = numbers.number(at: offset + 7, bytes: 2)
                else { throw .broken }
                size = (width, height)
            }
            offset += 2 + length
            guard marker == Self.scan else { continue }
            guard size != (0, 0), offset < bytes.count - 2 else { throw .broken }
            return size
        }
    }
}
