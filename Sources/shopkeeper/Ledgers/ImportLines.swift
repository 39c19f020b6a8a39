// SPDX-License-Identifier: Apache-2.0

import Foundation
import SignedData

/// The lines of a CSV file with a user and a transaction's number each. A first line
/// without a number is a heading.
struct ImportLines: Equatable {
    struct Row: Equatable {
        let line: Int
        let account: String
        let transactionID: String
    }

    struct Mistake: Equatable {
        let line: Int
        let rule: String
    }

    private(set) var rows: [Row] = []
    private(set) var mistakes: [Mistake] = []

    init(_ data: Data) {
        var bytes = data[...]
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes = bytes.dropFirst(3) }
        let lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            let line = line.last == 0x0D ? line.dropLast() : line
            if !line.isEmpty { read(Data(line), index + 1) }
        }
    }

    private mutating func read(_ bytes: Data, _ line: Int) {
        guard let text = String(data: bytes, encoding: .utf8),
            let fields = Self.fields(text), fields.count == 2
        else {
            return mistakes.append(
                Mistake(line: line, rule: "two fields in UTF-8, separated by a comma"))
        }
        let (account, id) = (fields[0], fields[1])
        guard (1...32).contains(id.utf8.count), id.utf8.allSatisfy({ (48...57).contains($0) })
        else {
            if line == 1 { return }
            return mistakes.append(
                Mistake(line: line, rule: "a transaction's number of 1 to 32 digits"))
        }
        guard (1...255).contains(account.utf8.count), !account.utf8.contains(0) else {
            return mistakes.append(
                Mistake(line: line, rule: "a user of 1 to 255 bytes without U+0000"))
        }
        rows.append(Row(line: line, account: account, transactionID: id))
    }

    /// Splits a line. A field in quotes may contain commas, and a doubled quote means
    /// one. Nil if a quote is not closed.
    private static func fields(_ text: String) -> [String]? {
        var fields = [""]
        var isQuoted = false
        var rest = text.unicodeScalars[...]
        while let next = rest.popFirst() {
            switch next {
            case "\"" where isQuoted && rest.first == "\"":
                rest.removeFirst()
                fields[fields.count - 1].unicodeScalars.append(next)
            case "\"" where isQuoted || fields.last?.isEmpty == true: isQuoted.toggle()
            case "," where !isQuoted: fields.append("")
            default: fields[fields.count - 1].unicodeScalars.append(next)
            }
        }
        return isQuoted ? nil : fields.map { $0.trimmingCharacters(in: .whitespaces) }
    }
}

/// Notes how many lines of a file are done, beside the file. A changed file begins
/// again.
struct ImportProgress {
    private let path: String
    private let digest: String
    private(set) var done = 0

    init(path: String, _ data: Data) {
        self.path = path
        digest = CertificateAuthority.fingerprint(of: Array(data))
        guard let known = FileManager.default.contents(atPath: path),
            let text = String(data: known, encoding: .utf8)
        else { return }
        let words = text.split(whereSeparator: \.isWhitespace)
        if words.count == 2, words[0] == digest, let line = Int(words[1]) { done = line }
    }

    mutating func note(_ line: Int) throws {
        done = line
        try Data("\(digest) \(line)\n".utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
    }

    func remove() { try? FileManager.default.removeItem(atPath: path) }
}
