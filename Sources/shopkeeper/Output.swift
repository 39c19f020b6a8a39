// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Commerce
import Foundation
import Synchronization

/// Prints answers on standard output, and everything else on standard error.
/// All output to a terminal goes through it. It may contain foreign text, so
/// characters that control a terminal are made visible: see ``VisibleText``.
enum Output {
    /// Returns JSON with sorted keys. Absent values are left out.
    static func text(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return VisibleText.json(String(decoding: try encoder.encode(value), as: UTF8.self))
    }

    /// Prints one line. A line end in it is made visible.
    static func answer(_ line: String) { answer([line]) }

    static func answer(_ lines: [String]) {
        if !write(lines, to: .standardOutput) { lost.store(true, ordering: .relaxed) }
    }

    /// Prints a line for a reader who may have gone.
    static func report(_ line: String) { _ = write([line], to: .standardOutput) }

    static func answer(json value: some Encodable) throws {
        // Its line ends come from the encoder. Those in strings are escaped.
        answer(try text(value).split(separator: "\n").map(String.init))
    }

    /// Prints one line on standard error.
    static func complain(_ line: String) { complain([line]) }

    static func complain(_ lines: [String]) { _ = write(lines, to: .standardError) }

    private static func write(_ lines: [String], to handle: FileHandle) -> Bool {
        guard !lines.isEmpty else { return true }
        let text = lines.map(VisibleText.line).joined(separator: "\n")
        return write("\(text)\n", to: handle)
    }

    /// Returns whether all of it was written. A reader that has gone, or a full disk,
    /// must not end a server.
    private static func write(_ text: String, to handle: FileHandle) -> Bool {
        do { try handle.write(contentsOf: Data(text.utf8)) } catch { return false }
        return true
    }

    /// Whether an answer, or a part of it, could not be written.
    static var isLost: Bool { lost.load(ordering: .relaxed) }
    private static let lost = Atomic(false)

    /// What to report if the answer is lost.
    static var loss: Failure {
        let said = lossWords.withLock { $0 }
        return Failure(
            .output, "answerLost",
            said?.change ?? "The answer could not be written.", field: "standard output",
            rule: "what the command changed stays changed",
            remedy: said?.remedy
                ?? "make room or read the output; if the verb changes something, look at it with "
                + "its `list` or `show` before you repeat it")
    }
    private static let lossWords = Mutex<(change: String, remedy: String)?>(nil)

    /// Sets the sentences for an answer that cannot be printed again: what was
    /// changed, and how to replace what the answer contained.
    static func ifLost(_ change: String, remedy: String) {
        lossWords.withLock { $0 = (change, remedy) }
    }

    /// Prints a question on standard error, without a line end.
    static func ask(_ question: String) {
        _ = write("\(VisibleText.line(question)) ", to: .standardError)
    }

    /// Prints contents for another program: unchanged bytes, unless the output
    /// is a terminal.
    static func contents(_ text: String) {
        let isSeen = isatty(STDOUT_FILENO) == 1
        let shown = isSeen ? VisibleText.lines(text) : text
        if !write(shown, to: .standardOutput) { lost.store(true, ordering: .relaxed) }
    }

    /// Formats rows as columns that are as wide as their widest cell. A cell is
    /// always one cell in one line, whatever its text.
    static func table(_ rows: [[String]]) -> [String] {
        let rows = rows.map { $0.map(VisibleText.line) }
        let widths = (rows.first ?? []).indices.map { column in
            rows.map { $0[column].count }.max() ?? 0
        }
        return rows.map { row in
            zip(row, widths).enumerated().map { index, cell in
                let padding = index == row.count - 1 ? 0 : cell.1 - cell.0.count
                return cell.0 + String(repeating: " ", count: padding)
            }.joined(separator: "  ")
        }
    }
}

/// The options of every verb that prints.
struct PrintOptions: ParsableArguments {
    @Flag(name: .long, help: "Print the answer alone, as JSON.")
    var json = false

    /// Prints one value: an object or one line.
    func show(_ value: some Encodable, _ line: @autoclosure () -> String) throws {
        try show(value, lines: [line()])
    }

    /// Prints an object or its lines. An empty list has no lines.
    func show(_ value: some Encodable, lines: @autoclosure () -> [String]) throws {
        if json { try Output.answer(json: value) } else { Output.answer(lines()) }
    }
}
