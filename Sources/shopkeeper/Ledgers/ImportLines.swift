// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The lines of a CSV file with a user and a transaction's number each. A first line
/// without any digit in its second field is a heading.
struct ImportLines: Equatable {
    /// `line`: the number of its first line, because a user may contain line ends.
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
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        var reader = CSVReader(Array(data.starts(with: mark) ? data.dropFirst(3) : data))
        while let record = reader.next() {
            if record.fields != [[]] || record.brokenRule != nil { read(record) }
        }
    }

    private mutating func read(_ record: CSVRecord) {
        let fields = record.fields.compactMap { String(validating: $0, as: UTF8.self) }
        guard record.brokenRule == nil, fields.count == 2, record.fields.count == 2 else {
            return refuse(
                record, record.brokenRule ?? "two fields in UTF-8, separated by a comma")
        }
        let (account, id) = (fields[0], fields[1])
        guard (1...32).contains(id.utf8.count), id.utf8.allSatisfy({ (48...57).contains($0) })
        else {
            if record.line == 1, Self.isHeading(id) { return }
            return refuse(
                record, "a transaction's number of 1 to 32 digits, without spaces around it")
        }
        guard (1...255).contains(account.utf8.count), !account.utf8.contains(0) else {
            return refuse(record, "a user of 1 to 255 bytes without U+0000")
        }
        rows.append(Row(line: record.line, account: account, transactionID: id))
    }

    private mutating func refuse(_ record: CSVRecord, _ rule: String) {
        mistakes.append(Mistake(line: record.line, rule: rule))
    }

    /// A number that is written wrongly is no heading, so that it is reported.
    private static func isHeading(_ field: String) -> Bool {
        !field.isEmpty && !field.contains(where: \.isNumber)
    }
}
