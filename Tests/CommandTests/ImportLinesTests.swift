// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import shopkeeper

/// The lines of `ledger import`.
@Suite struct ImportLinesTests {
    @Test func `a line is a user and a number, in quotes or not`() {
        let text = "user,transaction\r\nblob,1\r\n\n\"Blob, \"\"Jr.\"\"\",2\nblöb,3"
        let lines = ImportLines(Data([0xEF, 0xBB, 0xBF] + Array(text.utf8)))

        #expect(
            lines.rows == [
                .init(line: 2, account: "blob", transactionID: "1"),
                .init(line: 4, account: "Blob, \"Jr.\"", transactionID: "2"),
                .init(line: 5, account: "blöb", transactionID: "3"),
            ])
        #expect(lines.mistakes == [])
    }

    @Test func `what is no such line is named by its number, and nothing of it is read`() {
        let long = String(repeating: "a", count: 256)
        let text = "a,1\nb\nc,2,3\n,4\nd,x5\n\(long),7\ng\0,8\nh,٣\ni,\n"
        let lines = ImportLines(Data(Array(text.utf8) + [0xFF, 0x2C, 0x31]))

        #expect(lines.rows.map(\.line) == [1])
        #expect(lines.mistakes.map(\.line) == [2, 3, 4, 5, 6, 7, 8, 9, 10])
    }

    @Test func `a user in quotes may contain line ends, and its line is the first of them`() {
        let text = "\"multi\nline\",1\r\n\"more\r\n\r\nlines\",2\nx,3"
        let lines = ImportLines(Data(text.utf8))

        #expect(
            lines.rows == [
                .init(line: 1, account: "multi\nline", transactionID: "1"),
                .init(line: 3, account: "more\r\n\r\nlines", transactionID: "2"),
                .init(line: 6, account: "x", transactionID: "3"),
            ])
        #expect(lines.mistakes == [])
    }

    @Test func `a quote in the wrong place costs its line, and an open one the rest`() {
        let text = "\"a\"b\",1\n\"a\"b,2\na\"b,3\n\"c\" ,4\nd,5\n\"e,6\nf,7\n"
        let lines = ImportLines(Data(text.utf8))

        #expect(lines.rows == [.init(line: 5, account: "d", transactionID: "5")])
        #expect(lines.mistakes.map(\.line) == [1, 2, 3, 4, 6])
        #expect(lines.mistakes.last?.rule.contains("not read") == true)
    }

    @Test func `spaces belong to the user, and a number has none`() {
        let text = "  sp  ,1\nb, 2\nc,3 \nd,4\u{200B}\ne,5\rf,6"
        let lines = ImportLines(Data(text.utf8))

        #expect(lines.rows == [.init(line: 1, account: "  sp  ", transactionID: "1")])
        #expect(lines.mistakes.map(\.line) == [2, 3, 4, 5])
    }

    @Test(arguments: ["user, 1", "user,1\u{200B}", "user,x1", "user,"])
    func `a first line with a number that cannot be read is no heading`(line: String) {
        let lines = ImportLines(Data("\(line)\nb,2".utf8))

        #expect(lines.rows.map(\.line) == [2])
        #expect(lines.mistakes.map(\.line) == [1])
    }

    @Test func `progress is of one file's contents`() throws {
        let folder = try temporaryFolder()
        let path = folder.file("list.progress")
        var progress = ImportProgress(path: path, Data("a,1".utf8), way: ["one"])
        #expect(progress.count == 0)
        try progress.note(7)
        try progress.note(9)

        let known = ImportProgress(path: path, Data("a,1".utf8), way: ["one"])
        #expect((6...10).filter(known.isDone) == [7, 9])
        #expect(ImportProgress(path: path, Data("a,2".utf8), way: ["one"]).count == 0)
        #expect(ImportProgress(path: path, Data("a,1".utf8), way: ["two"]).count == 0)
        progress.remove()
        #expect(ImportProgress(path: path, Data("a,1".utf8), way: ["one"]).count == 0)
    }

    @Test func `a number that was not written to its end is not done, nor part of the next`()
        throws
    {
        let folder = try temporaryFolder()
        let path = folder.file("list.progress")
        var progress = ImportProgress(path: path, Data("a,1".utf8), way: ["one"])
        try progress.note(2)
        let file = try #require(FileHandle(forWritingAtPath: path))
        try file.seekToEnd()
        try file.write(contentsOf: Data("1".utf8))

        var next = ImportProgress(path: path, Data("a,1".utf8), way: ["one"])
        #expect(next.count == 1)
        try next.note(13)
        try next.note(14)
        let last = ImportProgress(path: path, Data("a,1".utf8), way: ["one"])
        #expect([1, 2, 13, 14, 113].filter(last.isDone) == [2, 13, 14])
    }
}
