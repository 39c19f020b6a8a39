// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import Testing

@testable import PurchaseKit

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// What is typed on a terminal, and what the customer has answered by it. One
/// end of a pair of sockets stands for the terminal.
@Suite(.timeLimit(.minutes(5))) struct TerminalSheetTests {
    private func contents(_ title: String = "Ten credits") throws -> SheetContents {
        SheetContents(
            productID: "x", title: title, details: "For monkeys", quantity: 2,
            unitPrice: Money(Amount(milliunits: 990), try #require(Currency(code: "USD"))),
            priceLocale: "en_US@currency=USD")
    }

    private func converse(
        _ typed: String, title: String = "Ten credits"
    ) throws -> (answer: SheetAnswer, shown: String) {
        let contents = try contents(title)
        return try converse(typed) { TerminalSheet.answer(to: contents, on: $0) }
    }

    private func converse<Answer>(
        _ typed: String, _ ask: (Int32) -> Answer
    ) throws -> (answer: Answer, shown: String) {
        var ends: [Int32] = [0, 0]
        #if canImport(Glibc)
            let stream = Int32(SOCK_STREAM.rawValue)
        #else
            let stream = SOCK_STREAM
        #endif
        try #require(socketpair(AF_UNIX, stream, 0, &ends) == 0)
        defer { for end in ends { close(end) } }
        let bytes = Array(typed.utf8)
        try #require(write(ends[0], bytes, bytes.count) == bytes.count)
        // What is not answered by then is a terminal that went away.
        try #require(shutdown(ends[0], Int32(SHUT_WR)) == 0)

        let answer = ask(ends[1])

        var shown = [UInt8](repeating: 0, count: 4096)
        let count = read(ends[0], &shown, shown.count)
        return (answer, String(decoding: shown.prefix(max(0, count)), as: UTF8.self))
    }

    @Test(arguments: [
        ("y\n", SheetAnswer.confirm), ("YES\n", .confirm), ("y", .confirm), ("n\n", .cancel),
        ("No\n", .cancel), ("\n", .cancel), ("", .cancel), ("yes please\nn\n", .cancel),
        ("what?\ny\n", .confirm), ("n\ny\n", .cancel),
    ])
    func `only a line with yes buys`(typed: String, answer: SheetAnswer) throws {
        #expect(try converse(typed).answer == answer)
    }

    @Test(arguments: [("y\n", SheetAnswer.confirm), ("x\nno\n", .cancel), ("", .cancel)])
    func `a question is answered as a sheet is`(typed: String, answer: SheetAnswer) throws {
        let said = try converse(typed) { TerminalSheet.answer(to: "Restore?", on: $0) }
        #expect(said.answer == answer)
        #expect(said.shown.hasPrefix("  Restore? [y/n] "))
    }

    @Test(arguments: [("  SPRING26 \n", "SPRING26"), ("\n", nil), ("", nil)])
    func `a code is a line`(typed: String, code: String?) throws {
        #expect(try converse(typed) { TerminalSheet.code(on: $0) }.answer == code)
    }

    @Test func `the sheet shows what is bought, and asks again until it is answered`() throws {
        let shown = try converse("x\ny\n").shown

        for line in ["  Ten credits\n", "  For monkeys\n", "  2 × $0.99 = $1.98\n"] {
            #expect(shown.contains(line))
        }
        #expect(shown.components(separatedBy: "Buy? [y/n]").count == 3)
    }

    @Test func `a product's words do not steer the terminal`() throws {
        #expect(try !converse("n\n", title: "Ten\u{1B}[2Jcredits").shown.contains("\u{1B}"))
    }

    @Test func `a terminal that cannot be read buys nothing`() throws {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        defer { for end in ends { close(end) } }

        // What is written to can be shown the sheet, and not be read.
        #expect(TerminalSheet.answer(to: try contents(), on: ends[1]) == .cancel)
    }
}
