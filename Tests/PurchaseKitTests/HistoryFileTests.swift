// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import TestSupport
import Testing

@testable import PurchaseKit

/// The history by itself: what pages do to it, and files that cannot be used.
struct HistoryFileTests {
    let files = MemoryFiles()
    let origin = HistoryOrigin(
        deviceUUID: "d", owner: Owner(realm: "r", customer: "c"), generation: 1)
    var history: HistoryFile { HistoryFile(files: files) }
    var name: String { HistoryFile.name(of: origin.owner) }
    var aside: String { HistoryFile.asideName(of: origin.owner) }

    /// Before and after: the cursor, a clearing behind `!`, and transactions
    /// with their revisions. A page: since and up to where it was verified.
    static let table = """
        before    | page            | after        | why
        0:        | 0-3: a1 b3      | 3: a1 b3     | a first page
        3: a1 b3  | 3-5: a5         | 5: b3 a5     | a later revision replaces
        5: b3 a5  | 0-3: a1 b3      | 5: b3 a5     | a slower process changes nothing
        3: a1     | 5-7: c7         | 3: a1 c7     | a gap stops the cursor
        3: a1     | 3-3: c7         | 3: a1 c7     | something was not verified
        3: a1 b3  | 2-4: b3 c4      | 4: a1 b3 c4  | pages may overlap
        3: a1 b3  | 3-6!3: c5       | 6!3: c5      | cleared up to a revision
        6!3: c5   | 0-3: a1 b3      | 6!3: c5      | what was cleared does not come back
        6!3: c5   | 6-7!2: d7       | 7!3: c5 d7   | a clearing that is known
        4: b3 a4  | 4-4: c4         | 4: b3 a4 c4  | the order is that of revision and id
        """

    @Test(arguments: table.split(separator: "\n").dropFirst().map(String.init))
    func `pages change a history as in the table`(row: String) throws {
        let cells = row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
        let (before, page) = (try Line(cells[0]), try Line(cells[1]))
        var record = HistoryRecord(origin)
        (record.cursor, record.cleared) = (before.to, before.cleared)
        record.transactions = before.transactions
        var pages = HistoryPages(since: page.from)
        (pages.cursor, pages.cleared) = (page.to, page.cleared)
        pages.transactions = page.transactions

        record.add(pages)

        let after = try Line(cells[2])
        #expect(record.cursor == after.to)
        #expect(record.cleared == after.cleared)
        #expect(record.transactions == after.transactions)
    }

    /// A part of a revision is before the whole of it.
    @Test func `pages within one revision follow each other`() throws {
        var record = HistoryRecord(origin)
        var first = HistoryPages(since: ReadCursor(revision: 0))
        first.cursor = ReadCursor(revision: 9, after: 100)
        record.add(first)
        var second = HistoryPages(since: first.cursor)
        second.cursor = ReadCursor(revision: 9)

        record.add(second)
        record.add(first)

        #expect(record.cursor == ReadCursor(revision: 9))
    }

    @Test func `what was written is read`() throws {
        let written = try history.add(pages(), to: origin) { true }
        let read = try history.read(origin)

        #expect(read.record == written.record)
        #expect(read.record.transactions.map(\.transactionID) == ["a", "b"])
        #expect(read.notice == nil)
        #expect(files.replacements == 1)
    }

    @Test func `pages that are there already are not written again`() throws {
        for _ in 1...2 { _ = try history.add(pages(), to: origin) { true } }
        #expect(files.replacements == 1)
    }

    @Test func `pages of another origin are not written`() throws {
        let pages = try pages()
        #expect(throws: QueueFileFault.overtaken) {
            try history.add(pages, to: origin) { false }
        }
        #expect(files.replacements == 0)
    }

    /// The last three are histories of another queue file, customer and
    /// generation.
    @Test(arguments: [
        "", "{", "\0\0", #"{"version":1}"#, #"{"version":2,"treasure":"kept"}"#,
        String(repeating: "[", count: 100_000),
        whole.replacing(#""deviceUUID":"d""#, with: #""deviceUUID":"e""#),
        whole.replacing(#""customer":"c""#, with: #""customer":"x""#),
        whole.replacing(#""generation":1"#, with: #""generation":2"#),
    ])
    func `a file that cannot be used is set aside, and the history begins anew`(
        text: String
    ) throws {
        let bytes = Array(text.utf8)
        files.state.withLock { $0.files[name] = bytes }

        let found = try history.read(origin)
        #expect(found.record == HistoryRecord(origin))
        #expect(try #require(found.notice).contains("It is set aside as \(aside)"))
        #expect(files.replacements == 0)
        let written = try history.add(pages(), to: origin) { true }

        #expect(files.state.withLock { $0.files[aside] } == bytes)
        #expect(try history.read(origin).record == written.record)
        #expect(written.record.transactions.count == 2)
    }

    @Test func `a whole file of this origin can be used`() throws {
        files.state.withLock { $0.files[name] = Array(Self.whole.utf8) }
        #expect(try history.read(origin).notice == nil)
    }

    @Test func `a history keeps to its limit`() throws {
        let small = HistoryFile(files: files, bytesMax: 300)
        _ = try small.add(pages(), to: origin) { true }
        var more = try pages()
        more.transactions[0].signedTransaction = String(repeating: "x", count: 300)
        more.transactions[0].revision = 9
        #expect(throws: HistoryFault.tooLarge) { try small.add(more, to: origin) { true } }
        #expect(try small.read(origin).record.transactions.count == 2)

        files.state.withLock { $0.files[name] = Array(repeating: 0x20, count: 301) }
        #expect(try #require(try small.read(origin).notice).contains("is larger than"))
    }

    private static let whole =
        #"{"cursor":{"revision":3},"origin":{"deviceUUID":"d","generation":1,"#
        + #""owner":{"customer":"c","realm":"r"}},"transactions":[],"version":1}"#

    private func pages() throws -> HistoryPages {
        let line = try Line("0-3: a1 b3")
        var pages = HistoryPages(since: line.from)
        (pages.cursor, pages.transactions) = (line.to, line.transactions)
        return pages
    }

    /// A cell of the table.
    private struct Line {
        var from: ReadCursor
        var to: ReadCursor
        var cleared: Int64?
        var transactions: [HistoryRecord.Transaction]

        init(_ text: String) throws {
            let form = #/(?:(?<from>\d+)-)?(?<to>\d+)(?:!(?<cleared>\d+))?:(?<items>.*)/#
            let parts = try #require(text.wholeMatch(of: form)).output
            to = ReadCursor(revision: try #require(Int64(parts.to)))
            from = parts.from.flatMap { Int64($0) }.map { ReadCursor(revision: $0) } ?? to
            cleared = parts.cleared.flatMap { Int64($0) }
            transactions = try parts.items.split(separator: " ").map { item in
                HistoryRecord.Transaction(
                    transactionID: String(item.prefix(1)),
                    revision: try #require(Int64(item.dropFirst())),
                    signedTransaction: String(item))
            }
        }
    }
}
