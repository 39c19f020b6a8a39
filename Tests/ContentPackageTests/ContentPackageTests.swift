// SPDX-License-Identifier: Apache-2.0

import ContentPackage
import Foundation
import Testing

@Suite(.timeLimit(.minutes(5)))
struct ContentPackageTests {
    private let summary = (productId: "level.two", version: "1.2", unpackedBytes: Int64(3005))

    @Test func `a folder is packed, checked and unpacked`() throws {
        let scratch = try Scratch()
        try scratch.makeFolder()

        let packed = try ContentPackage.pack(
            folder: scratch.at("package"), to: scratch.at("p.zip"))
        let checked = try ContentPackage.check(zip: scratch.at("p.zip"))
        let unpacked = try ContentPackage.unpack(zip: scratch.at("p.zip"), to: scratch.at("out"))

        let info = Int64(HandmadeZip.info.utf8.count)
        #expect(packed.info.productId == summary.productId)
        #expect(packed.info.version == summary.version)
        #expect(packed.unpackedBytes == summary.unpackedBytes + info)
        #expect(packed.entries == 5, "the folders Contents and sounds count too")
        #expect(checked.info == packed.info)
        #expect(checked.unpackedBytes == packed.unpackedBytes)
        #expect(unpacked == checked)
        #expect(scratch.read("out/Contents/map.txt") == "a map")
        #expect(scratch.read("out/Contents/sounds/ü.txt")?.count == 3000)
        #expect(scratch.read("out/ContentInfo.plist") == HandmadeZip.info)
        #expect(scratch.names == ["out", "p.zip", "package"])
        #expect(try ContentPackage.check(folder: scratch.at("out")) == packed)
    }

    @Test func `the same folder gives the same bytes`() throws {
        let scratch = try Scratch()
        try scratch.makeFolder()
        _ = try ContentPackage.pack(folder: scratch.at("package"), to: scratch.at("a.zip"))
        try FileManager.default.moveItem(
            atPath: scratch.at("package"), toPath: scratch.at("other"))
        try FileManager.default.setAttributes(
            [
                .modificationDate: Date(timeIntervalSince1970: 1_000_000_000),
                .posixPermissions: 0o700,
            ],
            ofItemAtPath: scratch.at("other/Contents/map.txt"))

        _ = try ContentPackage.pack(folder: scratch.at("other"), to: scratch.at("b.zip"))

        let first = FileManager.default.contents(atPath: scratch.at("a.zip"))
        #expect(first != nil)
        #expect(first == FileManager.default.contents(atPath: scratch.at("b.zip")))
    }

    @Test func `permissions of the package are ignored`() throws {
        let scratch = try Scratch()
        var program = HandmadeZip.Entry("Contents/run", "#!/bin/sh")
        program.mode = 0o104777
        try HandmadeZip.package([program]).write(to: scratch.at("p.zip"))

        _ = try ContentPackage.unpack(zip: scratch.at("p.zip"), to: scratch.at("out"))

        let attributes = try FileManager.default.attributesOfItem(
            atPath: scratch.at("out/Contents/run"))
        #expect((attributes[.posixPermissions] as? Int).map { $0 & 0o7133 } == 0)
    }

    @Test func `a folder with a link, a pipe or a stranger is refused`() throws {
        for (name, code): (String, ContentFault.Code) in [
            ("link", .link), ("pipe", .notAFile), ("file", .entryUnexpected),
        ] {
            let scratch = try Scratch()
            try scratch.makeFolder()
            switch name {
            case "link":
                symlink("/etc/passwd", scratch.at("package/Contents/zz"))
            case "pipe": mkfifo(scratch.at("package/Contents/zz"), 0o600)
            default: try scratch.write("package/zz", "x")
            }

            let found = fault { () throws(ContentFault) in
                try ContentPackage.pack(folder: scratch.at("package"), to: scratch.at("p.zip"))
            }

            #expect(found?.code == code)
            #expect(found?.entry?.hasSuffix("zz") == true)
            #expect(scratch.names == ["package"])
        }
    }

    @Test func `unpacking replaces nothing, and clears what an ended process left`() throws {
        let scratch = try Scratch()
        try HandmadeZip.package().write(to: scratch.at("p.zip"))
        try scratch.write("out.partial/Contents/old", "old")
        try scratch.write("taken/mine", "mine")

        let found = fault { () throws(ContentFault) in
            try ContentPackage.unpack(zip: scratch.at("p.zip"), to: scratch.at("taken"))
        }
        _ = try ContentPackage.unpack(zip: scratch.at("p.zip"), to: scratch.at("out"))

        #expect(found?.code == .targetExists)
        #expect(scratch.read("taken/mine") == "mine")
        #expect(scratch.read("out/Contents/old") == nil)
        #expect(scratch.read("out/Contents/map.txt") == "a map")
    }

    @Test func `a ZIP is not packed into its own folder, or over what is no file`() throws {
        let scratch = try Scratch()
        try scratch.makeFolder()
        try scratch.write("taken/mine", "mine")
        mkfifo(scratch.at("pipe"), 0o600)
        symlink(scratch.at("package"), scratch.at("other"))

        for zip in ["package/p.zip", "package/Contents/p.zip", "other/p.zip", "taken", "pipe"] {
            let found = fault { () throws(ContentFault) in
                try ContentPackage.pack(folder: scratch.at("package"), to: scratch.at(zip))
            }
            #expect(found?.code == .targetExists, "\(zip)")
        }
        #expect(scratch.names == ["other", "package", "pipe", "taken"])
        _ = try ContentPackage.check(folder: scratch.at("package"))
    }

    @Test func `a file whose name is not UTF-8 is named`() throws {
        let scratch = try Scratch()
        try scratch.makeFolder()
        let path: [CChar] =
            Array(scratch.at("package/Contents/a").utf8CString.dropLast()) + [
                CChar(truncatingIfNeeded: 0xFF), 0,
            ]
        let file = creat(path, 0o600)
        close(file)
        defer { unlink(path) }

        let found = fault { () throws(ContentFault) in
            try ContentPackage.check(folder: scratch.at("package"))
        }

        #expect(found?.code == .pathInvalid)
        #expect(found?.entry == "Contents/a\u{FFFD}")
        #expect(found?.sentence.hasPrefix("The name is not UTF-8.") == true)
    }

    @Test func `progress counts the bytes and can end the work`() throws {
        let scratch = try Scratch()
        try scratch.makeFolder()
        _ = try ContentPackage.pack(folder: scratch.at("package"), to: scratch.at("p.zip"))
        var counts: [Int64] = []

        let found = try ContentPackage.unpack(zip: scratch.at("p.zip"), to: scratch.at("out")) {
            counts.append($0)
            return true
        }
        let ended = fault { () throws(ContentFault) in
            try ContentPackage.unpack(zip: scratch.at("p.zip"), to: scratch.at("out2")) { $0 < 500 }
        }

        #expect(counts.last == found.unpackedBytes)
        #expect(counts == counts.sorted())
        #expect(ended?.code == .cancelled)
        #expect(scratch.names == ["out", "p.zip", "package"])
    }
}
