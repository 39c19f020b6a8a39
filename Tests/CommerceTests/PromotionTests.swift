// SPDX-License-Identifier: Apache-2.0

import Commerce
import Pictures
import TestSupport
import Testing

/// Pictures of promoted products, and the order in which a device shows these.
struct PromotionTests {
    private func fault(_ bytes: [UInt8]) -> PromotionImage.Fault? {
        do throws(PromotionImage.Fault) {
            _ = try PromotionImage(bytes)
            return nil
        } catch {
            return error
        }
    }

    @Test func `a PNG and a JPEG of the right size are accepted`() throws {
        #expect(try PromotionImage(SamplePicture.png()).format == .png)
        #expect(try PromotionImage(SamplePicture.jpeg()).format == .jpeg)
    }

    @Test func `a picture of another size is refused with its size`() {
        #expect(
            fault(SamplePicture.png(width: 1023)) == .otherSize(width: 1023, height: 1024))
        #expect(
            fault(SamplePicture.jpeg(height: 512)) == .otherSize(width: 1024, height: 512))
        #expect(
            fault(SamplePicture.png(width: 1 << 31, height: 0))
                == .otherSize(width: 1 << 31, height: 0))
    }

    @Test func `what only begins like a picture is refused`() {
        let header = Array(SamplePicture.png().prefix(33))
        #expect(fault([]) == .otherFormat)
        #expect(fault(Array("GIF89a".utf8)) == .otherFormat)
        #expect(fault(header) == .broken)
        #expect(fault(header + SamplePicture.chunk("IEND", [])) == .broken)
        #expect(fault(SamplePicture.png() + [0]) == .broken)
        #expect(fault([0xFF, 0xD8, 0xFF, 0xD9]) == .broken)
        let long = SamplePicture.png() + [UInt8](repeating: 0, count: PromotionImage.bytesMax)
        #expect(fault(long) == .tooLong)
    }

    /// Rows of a PNG of 1 bit a pixel, each with this filter.
    private func rows(_ count: Int, filter: UInt8) -> [UInt8] {
        Array(repeating: [filter] + [UInt8](repeating: 0x5A, count: 128), count: count)
            .flatMap { $0 }
    }

    @Test func `the pixels of a PNG are those of its rows`() {
        func fault(_ pixels: [UInt8], interlace: UInt8 = 0) -> PromotionImage.Fault? {
            self.fault(SamplePicture.png(pixels: pixels, interlace: interlace))
        }
        var spoiltSum = SamplePicture.zeros(1024 * 129)
        spoiltSum[spoiltSum.count - 1] ^= 1
        // Seven passes, of 128, 128, 256, 256, 512, 512 and 1024 pixels a row.
        let interlaced =
            128 * 17 + 128 * 17 + 128 * 33 + 256 * 33 + 256 * 65 + 512 * 65 + 512 * 129

        for filter: UInt8 in 0...4 {
            #expect(fault(SamplePicture.stored(rows(1024, filter: filter))) == nil)
        }
        #expect(fault(SamplePicture.zeros(interlaced), interlace: 1) == nil)
        let bad: [[UInt8]] = [
            SamplePicture.stored(rows(1024, filter: 5)), SamplePicture.stored(rows(1, filter: 0)),
            SamplePicture.stored(rows(1025, filter: 0)), SamplePicture.zeros(1024 * 129 - 1),
            SamplePicture.zeros(1024 * 129 + 1), SamplePicture.zeros(50 << 20), spoiltSum,
            SamplePicture.zeros(1024 * 129) + [0], [1, 2, 3], [UInt8](repeating: 0xA5, count: 5000),
        ]
        for pixels in bad { #expect(fault(pixels) == .broken, "\(pixels.count) bytes") }
        #expect(fault(SamplePicture.zeros(1024 * 129), interlace: 1) == .broken)
        #expect(fault(SamplePicture.zeros(1024 * 129), interlace: 2) == .broken)
    }

    @Test func `chunks of a PNG have their order`() {
        let good = SamplePicture.png()
        let (header, rest) = (Array(good[8..<33]), Array(good[33...]))
        let start = Array(good.prefix(33))

        #expect(fault(start + rest) == nil)
        #expect(fault(start + SamplePicture.chunk("tIME", [7, 234, 1, 1, 0, 0, 0]) + rest) == nil)
        #expect(fault(start + header + rest) == .broken)
        #expect(fault(start + SamplePicture.chunk("PLTE", [0, 0, 0]) + rest) == .broken)
        #expect(fault(start + SamplePicture.chunk("ABCD", []) + rest) == .broken)
    }

    @Test func `a JPEG has its tables, and bytes enough`() {
        let (good, tables) = (SamplePicture.jpeg(), SamplePicture.jpegTables)
        let bare = Array(good[..<8] + good[(8 + tables.count)...])
        let short = Array(good[..<(8 + tables.count + 23 + 500)] + [0xFF, 0xD9])

        #expect(fault(good) == nil)
        #expect(fault(bare) == .broken)
        #expect(fault(short) == .broken)
        #expect(fault(Array(good.dropLast(2)) + [0xFF, 0xFF, 0xD9]) == nil)
        #expect(fault(good + [0xFF, 0xD9]) == .broken)
    }

    @Test func `an app's image is any whole PNG of no more than its sides`() {
        #expect(AppImage.isSound(SamplePicture.png(width: 9, height: 3)))
        #expect(AppImage.isSound(SamplePicture.png(width: AppImage.sideMax, height: 1)))
        #expect(!AppImage.isSound(SamplePicture.png(width: AppImage.sideMax + 1, height: 1)))
        #expect(!AppImage.isSound(SamplePicture.png(width: 0, height: 1)))
        #expect(!AppImage.isSound(SamplePicture.jpeg()))
        #expect(!AppImage.isSound([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]))
    }

    @Test func `no truncated picture is accepted, and no PNG with a wrong byte`() {
        let (png, jpeg) = (SamplePicture.png(), SamplePicture.jpeg())
        for end in 0..<png.count { #expect(fault(Array(png.prefix(end))) != nil) }
        for end in 0..<jpeg.count { #expect(fault(Array(jpeg.prefix(end))) != nil) }
        for place in png.indices {
            var spoilt = png
            spoilt[place] ^= 0x55
            #expect(fault(spoilt) != nil, "byte \(place)")
        }
    }

    @Test func `listed products come first, and hidden ones not at all`() {
        let promoted = [("a", true), ("b", true), ("c", false), ("d", true)].map {
            PromotedProduct(productID: ProductID($0.0), isShown: $0.1)
        }
        func arranged(_ order: String, show: String = "", hide: String = "") -> String {
            var override = PromotionOverride(order: order.map { ProductID(String($0)) })
            for id in show { override.isShown[ProductID(String(id))] = true }
            for id in hide { override.isShown[ProductID(String(id))] = false }
            return override.arranged(promoted).map(\.value).joined()
        }

        #expect(arranged("") == "abd")
        #expect(arranged("db") == "dba")
        #expect(arranged("xd") == "dab")
        #expect(arranged("c", show: "c", hide: "a") == "cbd")
        #expect(arranged("ca", hide: "b") == "ad")
    }
}
