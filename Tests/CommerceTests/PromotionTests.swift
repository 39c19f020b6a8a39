// SPDX-License-Identifier: Apache-2.0

import Commerce
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
