// SPDX-License-Identifier: Apache-2.0

import ContentPackage
import Foundation
import Testing

/// Each hostile package is refused by a check and by an unpacking, names its
/// entry, and leaves nothing behind.
@Suite(.timeLimit(.minutes(5)))
struct HostilePackageTests {
    typealias Entry = HandmadeZip.Entry

    struct Case: CustomTestStringConvertible {
        let testDescription: String
        let zip: HandmadeZip
        let code: ContentFault.Code
        let entry: String?

        init(
            _ what: String, _ more: [Entry], _ code: ContentFault.Code, _ entry: String?
        ) {
            testDescription = what
            zip = .package(more)
            self.code = code
            self.entry = entry
        }

        /// A package with nothing but these entries.
        init(
            _ what: String, only entries: [Entry], _ code: ContentFault.Code,
            _ entry: String? = nil
        ) {
            testDescription = what
            zip = HandmadeZip(entries: entries)
            self.code = code
            self.entry = entry
        }
    }

    private static func entry(
        _ name: String, _ text: String = "", _ change: (inout Entry) -> Void
    ) -> Entry {
        var entry = Entry(name, text)
        change(&entry)
        return entry
    }

    private static let long = String(repeating: "n", count: 256)
    private static let deep = "Contents/" + String(repeating: "d/", count: 40) + "f"
    private static let veryLong =
        "Contents/" + String(repeating: String(repeating: "n", count: 200) + "/", count: 6) + "f"

    static let names: [Case] = [
        Case("absolute", [Entry("/etc/passwd")], .pathInvalid, "/etc/passwd"),
        Case("parent", [Entry("Contents/../../x")], .pathInvalid, "Contents/../../x"),
        Case("parent first", [Entry("../x")], .pathInvalid, "../x"),
        Case("only dots", [Entry("Contents/..")], .pathInvalid, "Contents/.."),
        Case("this folder", [Entry("Contents/./x")], .pathInvalid, "Contents/./x"),
        Case("empty part", [Entry("Contents//x")], .pathInvalid, "Contents//x"),
        Case("empty name", [Entry("")], .pathInvalid, ""),
        // Of a name without a slash, libarchive makes a path: that is no danger.
        Case("backslash parent", [Entry("Contents/..\\x")], .pathInvalid, "Contents/..\\x"),
        Case("control", [Entry("Contents/a\u{1B}[2J")], .pathInvalid, "Contents/a\u{FFFD}[2J"),
        Case("U+0000", [Entry("Contents/a\0b")], .pathInvalid, "Contents/a\u{FFFD}b"),
        Case("line break", [Entry("Contents/a\nb")], .pathInvalid, "Contents/a\u{FFFD}b"),
        Case(
            "not UTF-8",
            [
                entry("Contents/") {
                    $0.name += [0xFF, 0x61]; $0.flags = 0
                }
            ],
            .pathInvalid, "Contents/\u{FFFD}a"),
        Case("long part", [Entry("Contents/" + long)], .pathTooLong, nil),
        Case("long name", [Entry(veryLong)], .pathTooLong, nil),
        Case("deep", [Entry(deep)], .pathTooLong, deep),
        Case("beside Contents", [Entry("readme.txt")], .entryUnexpected, "readme.txt"),
        Case("of macOS", [Entry("__MACOSX/._x")], .entryUnexpected, "__MACOSX/._x"),
        Case("Contents a file", only: [Entry("Contents", "x")], .entryUnexpected, "Contents"),
    ]

    static let twins: [Case] = [
        Case("twice", [Entry("Contents/map.txt")], .duplicate, "Contents/map.txt"),
        Case("case", [Entry("Contents/MAP.txt")], .duplicate, "Contents/MAP.txt"),
        Case("case of Contents", [Entry("contents/x")], .entryUnexpected, "contents/x"),
        Case(
            "case of a folder", [Entry("Contents/a/x"), Entry("Contents/A/y")], .duplicate,
            "Contents/A/y"),
        Case(
            "normal form", [Entry("Contents/\u{FC}"), Entry("Contents/u\u{308}")], .duplicate,
            "Contents/u\u{308}"),
        Case(
            "case folding", [Entry("Contents/STRASSE"), Entry("Contents/straße")], .duplicate,
            "Contents/straße"),
        Case(
            "file, then folder", [Entry("Contents/a", "x"), Entry("Contents/a/b")], .duplicate,
            "Contents/a/b"),
        Case(
            "folder, then file", [Entry("Contents/a/b"), Entry("Contents/a", "x")], .duplicate,
            "Contents/a"),
        Case(
            "folder twice", [.folder("Contents/a"), .folder("Contents/a")], .duplicate,
            "Contents/a"),
        Case(
            "info twice", [Entry("ContentInfo.plist", HandmadeZip.info)], .duplicate,
            "ContentInfo.plist"),
    ]

    static let kinds: [Case] = [
        Case(
            "symbolic link", [entry("Contents/l", "/etc/passwd") { $0.mode = 0o120777 }], .link,
            "Contents/l"),
        Case(
            "link as folder",
            [
                entry("Contents/l", "/tmp") { $0.mode = 0o120777 }, Entry("Contents/l/x", "owned"),
            ], .link, "Contents/l"),
        Case("device", [entry("Contents/d") { $0.mode = 0o020666 }], .notAFile, "Contents/d"),
        Case(
            "info a link", only: [entry("ContentInfo.plist", "x") { $0.mode = 0o120777 }], .link,
            "ContentInfo.plist"),
        Case(
            "encrypted", [entry("Contents/e", "secret bytes") { $0.flags |= 1 }], .encrypted,
            "Contents/e"),
        Case(
            "other method", [entry("Contents/z", "bytes") { $0.method = 14 }], .methodUnsupported,
            "Contents/z"),
        Case(
            "unknown method", [entry("Contents/z", "bytes") { $0.method = 77 }],
            .methodUnsupported, "Contents/z"),
    ]

    /// 400 entries whose bytes are those of one.
    private static let shared: [Entry] = (0..<400).map { number in
        entry("Contents/\(number)") { $0.sharesPlace = true }
    }

    static let sizes: [Case] = [
        Case(
            "declares 3 GB twice",
            [
                entry("Contents/a") { $0.declaredSize = 3_000_000_000 },
                entry("Contents/b") { $0.declaredSize = 3_000_000_000 },
            ], .bomb, "Contents/a"),
        Case(
            "declares less", [entry("Contents/s", "0123456789") { $0.declaredSize = 3 }],
            .damaged, "Contents/s"),
        Case(
            "declares more", [entry("Contents/s", "0123456789") { $0.declaredSize = 30 }],
            .damaged, "Contents/s"),
        Case(
            "headers disagree", [entry("Contents/s", "0123456789") { $0.localDeclaredSize = 3 }],
            .damaged, "Contents/s"),
        Case("shared places", shared, .damaged, nil),
        Case(
            "checksum", [entry("Contents/s", "0123456789") { $0.checksum = 1 }], .damaged,
            "Contents/s"),
        Case(
            "not deflate", [entry("Contents/s", "\u{7}\u{7}") { $0.method = 8 }], .damaged,
            "Contents/s"),
    ]

    static let infos: [Case] = [
        Case("nothing", only: [], .notAPackage),
        Case("no info", only: [Entry("Contents/map.txt", "x")], .infoMissing),
        Case(
            "info in a folder",
            only: [Entry("level/ContentInfo.plist", HandmadeZip.info), Entry("level/Contents/m")],
            .infoMissing, "level/ContentInfo.plist"),
        Case(
            "no Contents", only: [Entry("ContentInfo.plist", HandmadeZip.info)], .contentsEmpty,
            "Contents"),
        Case(
            "empty Contents",
            only: [
                Entry("ContentInfo.plist", HandmadeZip.info), .folder("Contents"),
                .folder("Contents/a"),
            ], .contentsEmpty, "Contents"),
        Case(
            "large info",
            only: [Entry("ContentInfo.plist", String(repeating: " ", count: 70_000))],
            .infoInvalid, "ContentInfo.plist"),
    ]

    @Test(arguments: names + twins + kinds + sizes + infos)
    func `a hostile package is refused`(_ example: Case) throws {
        let scratch = try Scratch()
        try example.zip.write(to: scratch.at("p.zip"))

        let checked = fault { () throws(ContentFault) in
            try ContentPackage.check(zip: scratch.at("p.zip"))
        }
        let unpacked = fault { () throws(ContentFault) in
            try ContentPackage.unpack(zip: scratch.at("p.zip"), to: scratch.at("out"))
        }

        #expect(checked?.code == example.code, "\(checked as Any)")
        #expect(unpacked?.code == example.code, "\(unpacked as Any)")
        if let entry = example.entry { #expect(checked?.entry == entry) }
        #expect(scratch.names == ["p.zip"])
        #expect(checked?.sentence.hasSuffix(".") == true)
    }

    @Test(arguments: [
        ("", "not a property list"), ("x", "not a dictionary"),
        ("<plist><array/></plist>", "not a dictionary"),
        ("<plist><dict/></plist>", "`ContentVersion` is missing"),
        (
            "<plist><dict><key>ContentVersion</key><string>1</string></dict></plist>",
            "`IAPProductIdentifier` is missing"
        ),
        (pair("<integer>1</integer>", "<string>a</string>"), "`ContentVersion` is not a text"),
        (
            pair("<string>1</string>", "<array/>"),
            "`IAPProductIdentifier` is not a text"
        ),
        (pair("<string>1</string>", "<string>a/b</string>"), "`IAPProductIdentifier` is not an id"),
        (pair("<string>1.x</string>", "<string>a</string>"), "`ContentVersion` is not a version"),
        (pair("<string>1..2</string>", "<string>a</string>"), "not a version"),
        (pair("<string></string>", "<string>a</string>"), "not a version"),
        (pair("<string>1234567890</string>", "<string>a</string>"), "not a version"),
        (
            "<plist>" + String(repeating: "<array>", count: 9_000), "property list"
        ),
        (
            "<plist>" + String(repeating: "<array>", count: 3_000)
                + String(repeating: "</array>", count: 3_000) + "</plist>", "not a"
        ),
        (String(repeating: "(", count: 60_000), "property list"),
        (String(repeating: "{a=", count: 20_000), "property list"),
    ])
    func `an information file that breaks a rule names it`(
        _ plist: String, _ reason: String
    ) throws {
        let scratch = try Scratch()
        try HandmadeZip(entries: [Entry("ContentInfo.plist", plist), Entry("Contents/a", "a")])
            .write(to: scratch.at("p.zip"))

        let found = fault { () throws(ContentFault) in
            try ContentPackage.check(zip: scratch.at("p.zip"))
        }

        #expect(found?.code == .infoInvalid)
        #expect(found?.entry == "ContentInfo.plist")
        #expect(found?.sentence.contains(reason) == true, "\(found as Any)")
    }

    private static func pair(_ version: String, _ product: String) -> String {
        "<plist><dict><key>ContentVersion</key>\(version)"
            + "<key>IAPProductIdentifier</key>\(product)</dict></plist>"
    }

    @Test func `more entries than the limit are too many, and exactly as many are not`() throws {
        let scratch = try Scratch()
        let package = HandmadeZip.package((0..<98).map { Entry("Contents/\($0)") })
        try package.write(to: scratch.at("p.zip"))
        var limits = ContentLimits.standard
        #expect(limits.entries == 50_000)

        limits.entries = 100
        _ = try ContentPackage.check(zip: scratch.at("p.zip"), limits: limits)
        limits.entries = 99
        let found = fault { () throws(ContentFault) in
            try ContentPackage.unpack(
                zip: scratch.at("p.zip"), to: scratch.at("out"), limits: limits)
        }

        #expect(found?.code == .tooManyEntries)
        #expect(scratch.names == ["p.zip"])
    }

    @Test func `a declared size beyond the limit is refused before a byte is unpacked`() throws {
        let scratch = try Scratch()
        // The extra field of ZIP64 would say 10 GB; 4 GB and a limit of 2 GB say the same.
        var limits = ContentLimits.standard
        limits.totalBytes = 2 << 30
        let entry = Self.entry("Contents/a") { $0.declaredSize = 4_000_000_000 }
        try HandmadeZip.package([entry]).write(to: scratch.at("p.zip"))

        let found = fault { () throws(ContentFault) in
            try ContentPackage.check(zip: scratch.at("p.zip"), limits: limits)
        }

        #expect(found?.code == .tooLarge)
        #expect(found?.entry == "Contents/a")
    }

    @Test func `a bomb is stopped while it unpacks`() throws {
        let scratch = try Scratch()
        try scratch.makeFolder()
        try scratch.write("package/Contents/z", String(repeating: "\0", count: 4 << 20))
        var limits = ContentLimits.standard
        _ = try ContentPackage.pack(folder: scratch.at("package"), to: scratch.at("p.zip"))
        limits.freeBytes = 1 << 20

        #expect(
            throws: Never.self, "within the free bytes",
            performing: { try ContentPackage.check(zip: scratch.at("p.zip")) })
        let found = fault { () throws(ContentFault) in
            try ContentPackage.check(zip: scratch.at("p.zip"), limits: limits)
        }
        #expect(found?.code == .bomb)
    }

    @Test func `what is cut off anywhere is refused`() throws {
        let scratch = try Scratch()
        let whole = HandmadeZip.package().bytes

        for count in stride(from: 0, to: whole.count, by: 7) {
            try Data(whole[..<count]).write(to: URL(fileURLWithPath: scratch.at("p.zip")))
            let found = fault { () throws(ContentFault) in
                try ContentPackage.unpack(zip: scratch.at("p.zip"), to: scratch.at("out"))
            }
            #expect(found != nil, "cut after \(count) bytes")
        }
        #expect(scratch.names == ["p.zip"])
    }

    @Test func `no change of a byte crashes, or unpacks something else`() throws {
        let scratch = try Scratch()
        let whole = HandmadeZip.package().bytes

        for index in whole.indices {
            var bytes = whole
            bytes[index] ^= 0x41
            try Data(bytes).write(to: URL(fileURLWithPath: scratch.at("p.zip")))
            let found = fault { () throws(ContentFault) in
                try ContentPackage.check(zip: scratch.at("p.zip"))
            }
            // Dates, versions and attributes may change without harm.
            if found == nil {
                _ = try ContentPackage.unpack(zip: scratch.at("p.zip"), to: scratch.at("out"))
                #expect(scratch.names == ["out", "p.zip"])
                try FileManager.default.removeItem(atPath: scratch.at("out"))
            }
        }
    }

    @Test(arguments: ["x.txt", "nothing", "pipe", "."])
    func `what is no ZIP is refused`(_ name: String) throws {
        let scratch = try Scratch()
        try scratch.write("x.txt", "Once upon a time")
        mkfifo(scratch.at("pipe"), 0o600)

        let found = fault { () throws(ContentFault) in
            try ContentPackage.check(zip: scratch.at(name))
        }

        #expect(found?.code == (name == "nothing" ? .file : .notAPackage))
    }
}
