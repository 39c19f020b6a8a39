// SPDX-License-Identifier: Apache-2.0

public import Storage

/// Tables of every database that is backed up and restored as a whole. Their own
/// rows are in no backup.
extension Table {
    /// At most one row. It has no end while a restore is running.
    public static let restores = Table(
        "restores", key: ["singleton"],
        [
            "singleton": .singleton, "made_at": .time, "begun_at": .time,
            "finished_at": .time.optional,
        ], constraints: oneRow, isInBackup: false)

    /// Written to check that writing works.
    public static let readiness = Table(
        "readiness", key: ["singleton"],
        [
            "singleton": .singleton, "asked": .count,
            "room": .blob(bytes: 0...1_048_576).optional,
        ], constraints: oneRow, isInBackup: false)

    /// The constraint of a table with only one row.
    public static let oneRow = ["CHECK (singleton = 1)"]
}

extension ValueRule {
    /// The key of a table with only one row.
    public static let singleton = integer(1...1)

    public static func hex(_ digits: ClosedRange<Int>) -> ValueRule {
        text("\(digits.lowerBound) to \(digits.upperBound) hexadecimal digits in lower case") {
            digits.contains($0.utf8.count)
                && $0.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
        }
    }
}
