// SPDX-License-Identifier: Apache-2.0

import ContentPackage
import Foundation
import TestSupport
import Testing

/// `ContentInfo.plist` in binary form: its counts are checked before Foundation believes
/// them, which ends the process at some.
@Suite(.unforgiven, .timeLimit(.minutes(5)))
struct BinaryPlistTests {
    /// A list of one object, which the trailer makes the top one.
    private static func list(
        _ object: [UInt8], offsetBytes: UInt8 = 2, referenceBytes: UInt8 = 2, count: UInt64 = 1,
        top: UInt64 = 0, table: UInt64? = nil
    ) -> [UInt8] {
        var bytes = Array("bplist00".utf8) + object
        let end = UInt64(bytes.count)
        bytes += [0, 8, 0, 0, 0, 0, 0, 0, offsetBytes, referenceBytes]
        bytes += number(count)
        bytes += number(top)
        bytes += number(table ?? end)
        return bytes
    }

    /// An object whose count has eight bytes.
    private static func counted(_ marker: UInt8, _ count: UInt64) -> [UInt8] {
        list([marker, 0x13] + number(count))
    }

    private static func number(_ value: UInt64) -> [UInt8] {
        stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: value >> UInt64($0)) }
    }

    private static func good() throws -> [UInt8] {
        let more: [String: Any] = [
            "isTrue": true, "when": Date(timeIntervalSince1970: 0), "data": Data([1, 2]),
        ]
        let values: [String: Any] = [
            "ContentVersion": "1.2", "IAPProductIdentifier": "level.two",
            "Author": "Zoë, whose name is longer than fifteen letters", "Scores": [1, 70_000, 2.5],
            "More": more,
        ]
        return Array(
            try PropertyListSerialization.data(
                fromPropertyList: values, format: .binary, options: 0))
    }

    /// What a check says of a package with this list.
    private func found(of plist: [UInt8], in scratch: Scratch) throws -> ContentFault? {
        var info = HandmadeZip.Entry("ContentInfo.plist")
        info.bytes = plist
        try HandmadeZip(entries: [info, HandmadeZip.Entry("Contents/a", "a")])
            .write(to: scratch.at("p.zip"))
        return fault { () throws(ContentFault) in
            try ContentPackage.check(zip: scratch.at("p.zip"))
        }
    }

    @Test func `a list in binary form is read`() throws {
        let scratch = try Scratch()

        #expect(try found(of: Self.good(), in: scratch) == nil)
        #expect(
            try ContentPackage.check(zip: scratch.at("p.zip")).info.productId == "level.two")
    }

    private static let lies: [(String, [UInt8])] = [
        ("an array of 2^62", counted(0xAF, 1 << 62)),
        ("a dictionary of 2^61", counted(0xDF, 1 << 61)),
        ("a set of 2^62", counted(0xCF, 1 << 62)),
        ("a count of 16 bytes", list([0xAF, 0x14] + [UInt8](repeating: 0x7F, count: 16))),
        ("a count below zero", counted(0x5F, .max)),
        ("a text beyond the end", list([0x5F, 0x10, 200, 0x61])),
        ("an integer of 128 bytes", list([0x17] + [UInt8](repeating: 1, count: 128))),
        ("an array in itself", list([0xA1, 0, 0])),
        ("a reference to nothing", list([0xA1, 0, 1])),
        ("another version", Array("bplist15".utf8) + list([0x50]).dropFirst(8)),
        ("only a header", Array("bplist00".utf8)),
        ("offsets of no bytes", list([0x50], offsetBytes: 0)),
        ("offsets of 255 bytes", list([0x50], offsetBytes: 255)),
        ("references of no bytes", list([0xA1, 0, 0], referenceBytes: 0)),
        ("2^62 objects", list([0x50], count: 1 << 62)),
        ("no object", list([0x50], count: 0)),
        ("a top beyond the objects", list([0x50], top: 1 << 63)),
        ("a table beyond the end", list([0x50], table: .max)),
        ("a table in the header", list([0x50], table: 0)),
    ]

    @Test(arguments: lies)
    func `a list whose numbers lie is refused`(_ what: String, _ plist: [UInt8]) throws {
        let found = try found(of: plist, in: Scratch())

        #expect(found?.code == .infoInvalid, "\(what)")
        #expect(found?.sentence == "it is not a property list.")
    }

    @Test func `no changed byte of a good list ends the process`() throws {
        let (scratch, good) = (try Scratch(), try Self.good())
        var generator = SeededGenerator(1)
        for _ in 0..<400 {
            let found = try found(of: Mutation.of(good, using: &generator), in: scratch)
            #expect(found == nil || found?.code == .infoInvalid, "\(found as Any)")
        }
        for index in good.indices {
            var bytes = good
            bytes[index] ^= UInt8.random(in: 1 ... .max, using: &generator)
            let found = try found(of: bytes, in: scratch)
            #expect(found == nil || found?.code == .infoInvalid, "byte \(index): \(found as Any)")
        }
    }
}
