// SPDX-License-Identifier: Apache-2.0

/// Pictures for promoted products. Their pixels are not there, which the store does not
/// look at.
public enum SamplePicture {
    /// `salt` makes pictures differ.
    public static func png(
        width: Int = 1024, height: Int = 1024, salt: UInt8 = 0
    ) -> [UInt8] {
        let start: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        let header = number(width) + number(height) + [8, 2, 0, 0, 0]
        return start + chunk("IHDR", header) + chunk("IDAT", [1, 2, salt]) + chunk("IEND", [])
    }

    public static func jpeg(width: Int = 1024, height: Int = 1024) -> [UInt8] {
        let side = { (number: Int) in [UInt8(number >> 8 & 255), UInt8(number & 255)] }
        let frame: [UInt8] = [0xFF, 0xC0, 0, 11, 8] + side(height) + side(width) + [1, 1, 0x11, 0]
        let scan: [UInt8] = [0xFF, 0xDA, 0, 8, 1, 1, 0, 0, 63, 0]
        return [0xFF, 0xD8, 0xFF, 0xE0, 0, 4, 0x4A, 0x46] + frame + scan + [1, 2, 3, 0xFF, 0xD9]
    }

    public static func chunk(_ type: String, _ data: [UInt8]) -> [UInt8] {
        let named = Array(type.utf8) + data
        return number(data.count) + named + number(Int(checksum(named)))
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
