// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Commerce
import Foundation

/// Answers on standard output, all else on standard error: the only way out to a
/// terminal. What it prints may hold words of strangers, so characters that steer a
/// terminal are written visibly; ``VisibleText`` says which and how.
enum Output {
    /// JSON with sorted keys; absent keys are left out.
    static func text(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return VisibleText.json(String(decoding: try encoder.encode(value), as: UTF8.self))
    }

    /// One line: a line end in it is shown as one, and ends nothing.
    static func answer(_ line: String) { answer([line]) }

    static func answer(_ lines: [String]) { write(lines, to: .standardOutput) }

    static func answer(json value: some Encodable) throws {
        // Its own line ends are the encoder's; those in strings are escaped.
        answer(try text(value).split(separator: "\n").map(String.init))
    }

    /// One line on standard error.
    static func complain(_ line: String) { complain([line]) }

    static func complain(_ lines: [String]) { write(lines, to: .standardError) }

    private static func write(_ lines: [String], to handle: FileHandle) {
        guard !lines.isEmpty else { return }
        let text = lines.map(VisibleText.line).joined(separator: "\n")
        handle.write(Data("\(text)\n".utf8))
    }

    /// Asks on standard error, without an end of the line.
    static func ask(_ question: String) {
        FileHandle.standardError.write(Data("\(VisibleText.line(question)) ".utf8))
    }

    /// What another program reads: every byte as it is, unless a person looks.
    static func contents(_ text: String) {
        let isSeen = isatty(STDOUT_FILENO) == 1
        FileHandle.standardOutput.write(Data((isSeen ? VisibleText.lines(text) : text).utf8))
    }

    /// Lines of columns as wide as their widest cell. A cell stays one cell of one
    /// line, whatever it holds.
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

/// What every verb that prints takes.
struct PrintOptions: ParsableArguments {
    @Flag(name: .long, help: "Print the answer alone, as JSON.")
    var json = false

    /// Prints one thing: an object, or one line.
    func show(_ value: some Encodable, _ line: @autoclosure () -> String) throws {
        try show(value, lines: [line()])
    }

    /// An object, or its lines; of an empty list none.
    func show(_ value: some Encodable, lines: @autoclosure () -> [String]) throws {
        if json { try Output.answer(json: value) } else { Output.answer(lines()) }
    }
}
