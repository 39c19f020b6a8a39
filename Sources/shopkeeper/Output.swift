// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation

/// Answers on standard output, all else on standard error.
enum Output {
    /// JSON with sorted keys; absent keys are left out.
    static func text(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    static func answer(_ text: String) {
        FileHandle.standardOutput.write(Data("\(text)\n".utf8))
    }

    static func complain(_ text: String) {
        FileHandle.standardError.write(Data("\(text)\n".utf8))
    }

    /// Columns as wide as their widest cell.
    static func table(_ rows: [[String]]) -> String {
        let widths = (rows.first ?? []).indices.map { column in
            rows.map { $0[column].count }.max() ?? 0
        }
        return rows.map { row in
            zip(row, widths).enumerated().map { index, cell in
                let padding = index == row.count - 1 ? 0 : cell.1 - cell.0.count
                return cell.0 + String(repeating: " ", count: padding)
            }.joined(separator: "  ")
        }.joined(separator: "\n")
    }
}

/// What every verb that prints takes.
struct PrintOptions: ParsableArguments {
    @Flag(name: .long, help: "Print the answer alone, as JSON.")
    var json = false

    /// Prints one thing: an object, or words; of an empty list no line.
    func show(_ value: some Encodable, _ words: @autoclosure () -> String) throws {
        let text = json ? try Output.text(value) : words()
        if !text.isEmpty { Output.answer(text) }
    }
}
