// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import TestSupport
import Testing

@Suite(.unforgiven) struct NumberLayoutTests {
    @Test(arguments: Seeds.all)
    func `a number comes apart into what it was made of`(seed: UInt64) {
        var generator = SeededGenerator(seed)
        for _ in 0..<1000 {
            let layout = NumberLayout(
                kind: generator.one(of: IDKind.allCases),
                count: generator.integer(in: 0...(NumberLayout.countMax - 1)),
                bucket: generator.integer(in: 0...(NumberLayout.buckets - 1)))
            #expect(layout.number < 1 << 53)
            #expect(NumberLayout(number: layout.number) == layout)
            #expect(Double(layout.number) == Double(exactly: layout.number))
        }
    }

    @Test func `the bounds hold`() {
        for kind in IDKind.allCases {
            let last = NumberLayout(kind: kind, count: NumberLayout.countMax - 1, bucket: 999)
            #expect(last.number < 1 << 53)
            #expect(NumberLayout(number: last.number) == last)
            let first = NumberLayout(kind: kind, count: 0, bucket: 0)
            #expect(NumberLayout(number: first.number) == first)
        }
        let transaction = NumberLayout(kind: .transaction, count: 1, bucket: 7)
        #expect(transaction.number == 2_000_000_000_001_007)
    }

    @Test(arguments: [0, -1, 999, 999_999_999_999_999, 5_000_000_000_000_000, .max, .min])
    func `other numbers are not ours`(number: Int64) {
        #expect(NumberLayout(number: number) == nil)
    }

    @Test func `a customer's bucket is in the number`() {
        let customer = CustomerID(NumberLayout(kind: .customer, count: 12, bucket: 345).number)
        #expect(customer.bucket == 345)
    }
}

@Suite struct IdentifierTests {
    @Test func `identifiers are equal where their bytes are`() {
        let spellings = ["caf\u{E9}", "cafe\u{301}", "K", "\u{212A}", "\u{3B}", "\u{37E}"]
        let ids = spellings.map { ProductID($0) }

        // Swift's own `==` knows three texts here.
        #expect(Set(spellings).count == 3)
        #expect(Set(ids).count == 6)
        for (index, id) in ids.enumerated() {
            #expect(ids.firstIndex(of: id) == index)
            #expect(ProductID(spellings[index]) == id)
        }
        #expect(Dictionary(ids.map { ($0, 1) }) { $0 + $1 }.count == 6)
        #expect(!("\u{E9}" as String?).isSame(as: "e\u{301}"))
        #expect((nil as String?).isSame(as: nil) && !(nil as String?).isSame(as: ""))
    }

    @Test func `an id is of few characters and not long`() {
        let right = ["a", "Z9", "com.example.app_pro-1", String(repeating: "x", count: 100)]
        let wrong = ["", " ", "a b", "caf\u{E9}", "\u{212A}", "a\u{0}", "a/b", "\u{FF41}"]

        #expect(right.allSatisfy(IDText.isID))
        #expect(!wrong.contains(where: IDText.isID))
        #expect(!IDText.isID(String(repeating: "x", count: 101)))
        #expect(!IDText.isID(".") && !IDText.isID("..") && IDText.isID("..."))
    }

    @Test func `an identifier is its bare value in JSON`() throws {
        struct Both: Codable, Equatable { let product: ProductID, transaction: TransactionID }
        let both = Both(product: "a.b", transaction: TransactionID(7))
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let json = try encoder.encode(both)
        #expect(String(decoding: json, as: UTF8.self) == #"{"product":"a.b","transaction":7}"#)
        #expect(try JSONDecoder().decode(Both.self, from: json) == both)
        #expect("\(both.product) \(both.transaction)" == "a.b 7")
    }
}

@Suite(.unforgiven) struct UUIDTextTests {
    @Test(arguments: [
        ("6B1F0B9E-2F5C-4D0E-9A57-0D6F3C1E8A11", "6b1f0b9e-2f5c-4d0e-9a57-0d6f3c1e8a11"),
        ("00000000-0000-0000-0000-000000000000", "00000000-0000-0000-0000-000000000000"),
    ])
    func `either case is read and lower case is kept`(text: String, kept: String) {
        #expect(UUIDText(text)?.text == kept)
    }

    @Test(arguments: [
        "", "6b1f0b9e2f5c4d0e9a570d6f3c1e8a11", "6b1f0b9e-2f5c-4d0e-9a57-0d6f3c1e8a1",
        "6b1f0b9e-2f5c-4d0e-9a57-0d6f3c1e8a111", "6b1f0b9g-2f5c-4d0e-9a57-0d6f3c1e8a11",
        "6b1f0b9e-2f5c-4d0e-9a570-d6f3c1e8a11", "{b1f0b9e-2f5c-4d0e-9a57-0d6f3c1e8a1}",
        "６b1f0b9e-2f5c-4d0e-9a57-0d6f3c1e8", "user-42",
    ])
    func `what is no UUID is not read`(text: String) {
        #expect(UUIDText(text) == nil)
    }

    @Test(arguments: Seeds.all)
    func `random ones are of version 4 and repeat under a seed`(seed: UInt64) throws {
        let first = Randomness.seeded(seed)
        let second = Randomness.seeded(seed)
        var seen: Set<String> = []
        for _ in 0..<200 {
            let text = first.uuid()
            #expect(text == second.uuid())
            #expect(UUIDText(text)?.text == text)
            let characters = Array(text)
            #expect(characters[14] == "4")
            #expect("89ab".contains(characters[19]))
            #expect(seen.insert(text).inserted)
        }
    }

    @Test func `hexadecimal has two digits a byte`() {
        #expect(hexadecimal([0, 15, 16, 255]) == "000f10ff")
        #expect(Randomness { [UInt8](repeating: 0xAB, count: $0) }.hex(3) == "ababab")
    }
}

@Suite struct JSONNestingTests {
    @Test(arguments: [
        ("", true), ("[]", true), ("[[]]", true), ("[[[]]]", false), ("[{\"a\":[", false),
        ("[[],[],[[]]]", false), ("[[],[],[]]", true), ("\"[[[[\"", true),
        ("[\"\\\"[[[\"]", true), ("[\"\\\\\",[[", false), ("]]]][[", true),
    ])
    func `depth is counted outside texts`(json: String, isWithin: Bool) {
        #expect(JSONNesting.isWithin(Array(json.utf8), limit: 2) == isWithin)
    }

    @Test func `what stops Foundation's decoder is found out`() {
        #expect(!JSONNesting.isWithin([UInt8](repeating: UInt8(ascii: "["), count: 513)))
    }
}
