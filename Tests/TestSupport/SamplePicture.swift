// SPDX-License-Identifier: Apache-2.0

/// Small pictures that are whole: one black, and one whose scan is any bits.
public enum SamplePicture {
    /// `salt` makes pictures differ.
    public static func png(
        width: Int = 1024, height: Int = 1024, salt: UInt8 = 0
    ) -> [UInt8] {
        // One bit for a pixel, and a filter in front of each row.
        png(width: width, height: height, pixels: zeros(height * (1 + (width + 7) / 8)), salt: salt)
    }

    /// A PNG in grey, of 1 bit a pixel, with this zlib stream as its pixels.
    public static func png(
        width: Int = 1024, height: Int = 1024, pixels: [UInt8], interlace: UInt8 = 0,
        salt: UInt8 = 0
    ) -> [UInt8] {
        let start: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        let header = number(width) + number(height) + [1, 0, 0, 0, interlace]
        let note: [UInt8] = [0x41, 0, 0x61 + salt % 26]
        return start + chunk("IHDR", header) + chunk("tEXt", note) + chunk("IDAT", pixels)
            + chunk("IEND", [])
    }

    public static func jpeg(width: Int = 1024, height: Int = 1024) -> [UInt8] {
        let side = { (number: Int) in [UInt8(number >> 8 & 255), UInt8(number & 255)] }
        let frame: [UInt8] = [0xFF, 0xC0, 0, 11, 8] + side(height) + side(width) + [1, 1, 0x11, 0]
        let scan: [UInt8] = [0xFF, 0xDA, 0, 8, 1, 1, 0, 0, 63, 0]
        // Two bits for each block of 8 × 8 pixels.
        let coded = [UInt8](
            repeating: 0x55, count: (width + 7) / 8 * ((height + 7) / 8) / 4 + 1)
        return [0xFF, 0xD8, 0xFF, 0xE0, 0, 4, 0x4A, 0x46] + jpegTables + frame + scan + coded
            + [0xFF, 0xD9]
    }

    /// One table of each kind: all ones, and codes of one bit.
    public static let jpegTables: [UInt8] =
        [0xFF, 0xDB, 0, 67, 0] + [UInt8](repeating: 1, count: 64)
        + [0xFF, 0xC4, 0, 20, 0, 1] + [UInt8](repeating: 0, count: 16)
        + [0xFF, 0xC4, 0, 20, 0x10, 1] + [UInt8](repeating: 0, count: 16)

    public static func chunk(_ type: String, _ data: [UInt8]) -> [UInt8] {
        let named = Array(type.utf8) + data
        return number(data.count) + named + number(Int(checksum(named)))
    }

    /// A zlib stream of zeros: one, then repetitions of it, with the codes that need no
    /// table.
    public static func zeros(_ count: Int) -> [UInt8] {
        var bits = BitWriter()
        bits.add(1, 1)
        bits.add(1, 2)
        var left = count
        if left > 0 {
            bits.addCode(0x30, 8)
            left -= 1
        }
        while left >= 258 {
            bits.addCode(0xC5, 8)
            bits.addCode(0, 5)
            left -= 258
        }
        for _ in 0..<left { bits.addCode(0x30, 8) }
        bits.addCode(0, 7)
        return [0x78, 0x01] + bits.bytes + number((count % 65_521) << 16 | 1)
    }

    /// A zlib stream that holds bytes as they are.
    public static func stored(_ bytes: [UInt8]) -> [UInt8] {
        var stream: [UInt8] = [0x78, 0x01]
        for start in stride(from: 0, to: bytes.count, by: 65_535) {
            let piece = bytes[start..<min(start + 65_535, bytes.count)]
            let size = UInt16(piece.count)
            stream.append(start + piece.count == bytes.count ? 1 : 0)
            for half in [size, ~size] { stream += [UInt8(half & 255), UInt8(half >> 8)] }
            stream += piece
        }
        var (low, high) = (1, 0)
        for byte in bytes {
            low = (low + Int(byte)) % 65_521
            high = (high + low) % 65_521
        }
        return stream + number(high << 16 | low)
    }

    private static func number(_ value: Int) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(value >> $0 & 255) }
    }

    private static func checksum(_ bytes: [UInt8]) -> UInt32 {
        ~bytes.reduce(~UInt32(0)) { sum, byte in
            (0..<8).reduce(sum ^ UInt32(byte)) { value, _ in
                value & 1 == 1 ? 0xEDB8_8320 ^ (value >> 1) : value >> 1
            }
        }
    }
}

/// Bits into bytes, from the lowest one on.
private struct BitWriter {
    private(set) var bytes: [UInt8] = []
    private var held = 0

    mutating func add(_ value: Int, _ count: Int) {
        for place in 0..<count {
            if held == 0 { bytes.append(0) }
            bytes[bytes.count - 1] |= UInt8(value >> place & 1) << UInt8(held)
            held = (held + 1) % 8
        }
    }

    /// A code begins with its highest bit.
    mutating func addCode(_ code: Int, _ count: Int) {
        for place in stride(from: count - 1, through: 0, by: -1) { add(code >> place & 1, 1) }
    }
}
