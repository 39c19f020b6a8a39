// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import Testing

@testable import SignedData

@Suite struct Base64Tests {
    @Test func `both alphabets agree with Foundation on all lengths`() {
        var generator = SplitMix64(state: 3)
        for count in 0..<100 {
            let bytes = (0..<count).map { _ in
                UInt8.random(in: .min ... .max, using: &generator)
            }
            let standard = Data(bytes).base64EncodedString()
            let url = standard.replacing("+", with: "-").replacing("/", with: "_")
                .replacing("=", with: "")

            #expect(Base64.encode(bytes) == standard)
            #expect(Base64.decode(standard.utf8) == bytes)
            #expect(Base64.encodeURL(bytes) == Array(url.utf8))
            #expect(Base64.decodeURL(Array(url.utf8)[...]) == bytes)
            #expect(Base64.encodedCount(count) == url.utf8.count)
        }
    }

    @Test(arguments: [
        "A", "AAAAA", "AB", "AAB", "AA==", "A+", "A/", "A A", "AA\n", "é", "=", "AA=",
    ])
    func `URL-safe text is read strictly`(text: String) {
        #expect(Base64.decodeURL(Array(text.utf8)[...]) == nil)
    }

    @Test(arguments: [
        "A", "AA", "AAA", "AB==", "AAB=", "A===", "====", "AA-=", "AA_A=", "AAAA\n", "AA=A",
    ])
    func `standard text is read strictly`(text: String) {
        #expect(Base64.decode(text.utf8) == nil)
    }
}
