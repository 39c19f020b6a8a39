// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import StoreWire
import TestSupport
import Testing

@testable import StrictJSON

@Suite struct StrictJSONTests {
    @Test func `keys are sorted, slashes stay, absent values are left out`() throws {
        var payload = JWSTransactionDecodedPayload()
        payload.productId = "a/b\"\\\n\u{1}é"
        payload.bundleId = "com.example"
        payload.signedDate = Timestamp(milliseconds: 1_760_000_000_123)
        payload.isUpgraded = true

        let text = String(decoding: try StrictJSON.encode(payload), as: UTF8.self)

        #expect(
            text == """
                {"bundleId":"com.example","isUpgraded":true,"productId":"a/b\\"\\\\\\n\\u0001é",\
                "signedDate":1760000000123}
                """)
        #expect(
            try StrictJSON.decode(JWSTransactionDecodedPayload.self, from: Array(text.utf8))
                == payload)
    }

    @Test(arguments: ["\"", "\\", "\u{0}", "\u{1F}", "\n"])
    func `a character that needs an escape has one wherever it stands`(odd: String) throws {
        for length in 0...17 {
            for place in 0...length {
                let text =
                    String(repeating: "é\u{7F} ", count: place) + odd
                    + String(repeating: "#~", count: length - place)

                let bytes = try StrictJSON.encode([text])

                #expect(try JSONDecoder().decode([String].self, from: Data(bytes)) == [text])
            }
        }
    }

    @Test func `members are written in the order of their keys' bytes`() throws {
        var generator = SplitMix64(state: 7)
        for count in 0..<60 {
            // Many have the same beginning, and some are the beginning of others.
            let keys = Set(
                (0..<count).map { _ in
                    String("transact".prefix(Int.random(in: 0...8, using: &generator)))
                        + String(Int.random(in: 0...300, using: &generator), radix: 3)
                        + (Bool.random(using: &generator) ? "ü" : "")
                })
            let value = Dictionary(uniqueKeysWithValues: keys.map { ($0, 1) })

            let text = String(decoding: try StrictJSON.encode(value), as: UTF8.self)

            let sorted = keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
            #expect(text == "{" + sorted.map { "\"\($0)\":1" }.joined(separator: ",") + "}")
        }
    }

    @Test func `Foundation reads what is written`() throws {
        let everything = Everything.sample

        let bytes = try StrictJSON.encode(everything)

        #expect(try JSONDecoder().decode(Everything.self, from: Data(bytes)) == everything)
        #expect(try StrictJSON.decode(Everything.self, from: bytes) == everything)
    }

    @Test func `what Foundation writes is read`() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted]

        let bytes = Array(try encoder.encode(Everything.sample))

        #expect(try StrictJSON.decode(Everything.self, from: bytes) == Everything.sample)
    }

    @Test(
        arguments: [
            ("0", 0), ("-0", 0), ("12", 12), ("-12", -12), ("1e3", 1000), ("990.0", 990),
            ("9223372036854775807", .max), ("-9223372036854775808", .min), (" 7 ", 7),
        ] as [(String, Int64)])
    func `whole numbers are read whole`(text: String, value: Int64) throws {
        #expect(try StrictJSON.decode(Int64.self, from: Array(text.utf8)) == value)
    }

    @Test(arguments: [
        "01", "+1", ".5", "1.", "1e", "--1", "1.5", "9223372036854775808", "1e400", "0x1", "NaN",
        "\"1\"", "true", "null", "", " ", "1 1", "1,",
    ])
    func `other numbers are refused`(text: String) {
        #expect(throws: (any Error).self) {
            try StrictJSON.decode(Int64.self, from: Array(text.utf8))
        }
    }

    @Test(arguments: [
        (#""a\u0041\u00e9\ud83d\ude00\/\b\f\n\r\t\"\\""#, "aAé😀/\u{8}\u{c}\n\r\t\"\\"),
        ("\"é😀\"", "é😀"), ("\"\"", ""), (#""\u0000""#, "\0"),
    ])
    func `strings are read`(text: String, value: String) throws {
        #expect(try StrictJSON.decode(String.self, from: Array(text.utf8)) == value)
    }

    @Test(arguments: [
        #""\ud83d""#, #""\ud83dA""#, #""\ude00""#, #""\ud83d\u0041""#, #""\x""#, #""\u12""#,
        "\"\n\"", "\"", "\"\\", "'a'", #""a"b"#,
    ])
    func `invalid strings are refused`(text: String) {
        #expect(throws: JSONFailure.self) {
            try StrictJSON.decode(String.self, from: Array(text.utf8))
        }
    }

    @Test func `bytes that are not UTF-8 are refused`() {
        #expect(throws: JSONFailure.self) {
            try StrictJSON.decode(String.self, from: [0x22, 0xC3, 0x22])
        }
    }

    @Test(arguments: [
        #"{"a":1,"a":1}"#, #"{"a":1,"\u0061":2}"#, #"{"b":{"a":1,"a":2}}"#,
        "{" + (0..<40).map { "\"k\($0)\":0" }.joined(separator: ",") + ",\"k7\":1}",
        "{,}", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{a:1}", "[1,]", "[1", "{", "{\"a\":1}}",
    ])
    func `objects that two readers may read differently are refused`(text: String) {
        #expect(throws: JSONFailure.self) { try JSONDocument(Array(text.utf8)) }
    }

    @Test func `depth is bounded`() throws {
        func nested(_ depth: Int) -> [UInt8] {
            Array(
                (String(repeating: "[", count: depth) + String(repeating: "]", count: depth)).utf8)
        }

        #expect(throws: Never.self) { try JSONDocument(nested(StrictJSON.depthMax)) }
        #expect(throws: JSONFailure.self) { try JSONDocument(nested(StrictJSON.depthMax + 1)) }
        #expect(throws: JSONFailure.self) { try JSONDocument(nested(1_000_000)) }
    }

    @Test func `random harm crashes nothing`() throws {
        let good = try StrictJSON.encode(Everything.sample)
        var generator = SplitMix64(state: 5)

        for _ in 0..<3000 {
            let bytes = Mutation.of(good, using: &generator)
            let ours = (try? StrictJSON.decode(Everything.self, from: bytes)) != nil
            let theirs = (try? JSONSerialization.jsonObject(with: Data(bytes))) != nil
            // Whatever is read here, is JSON to others too.
            #expect(!ours || theirs)
        }
    }
}

/// A value of every kind that Codable has.
private struct Everything: Codable, Equatable {
    var text = "monkey ✿ \"credits\""
    var flag = true
    var double = 1.5
    var whole = 3.0
    var float: Float = 0.25
    var integers: [Int64] = [.min, -1, 0, 1, .max]
    var small: [UInt8] = [0, 255]
    var big = UInt64.max
    var optional: String?
    var missing: [Int?] = [1, nil, 3]
    var nested: [[String: Inner]] = [["a": Inner(name: "x"), "b/ü": Inner(name: "")], [:]]

    struct Inner: Codable, Equatable {
        var name: String
        var children: [Inner] = []
    }

    static let sample = Everything()
}
