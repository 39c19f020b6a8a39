// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A level that was bought and is on this device: a map with a start and an exit.
struct Level {
    let rows: [[Character]]

    private static let home =
        ProcessInfo.processInfo.environment["HOME"] ?? NSHomeDirectory()
    private static let folder = URL(fileURLWithPath: home)
        .appendingPathComponent("Levels", isDirectory: true)
    private static let file = folder.appendingPathComponent("Caves/map.txt")

    /// Nil while it is not installed.
    static func installed() -> Level? {
        guard let text = try? String(contentsOf: file, encoding: .utf8) else { return nil }
        return Level(rows: text.split(separator: "\n").map(Array.init))
    }

    /// Keeps the files that the store has delivered. A level that is there already is
    /// replaced.
    static func install(from contents: URL) throws {
        let target = folder.appendingPathComponent("Caves", isDirectory: true)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        if FileManager.default.fileExists(atPath: target.path) {
            try FileManager.default.removeItem(at: target)
        }
        try FileManager.default.copyItem(at: contents, to: target)
    }

    /// Walks by the letters n, e, s and w. Returns whether that leads to the exit.
    func play(_ steps: String) -> Bool {
        guard var row = rows.firstIndex(where: { $0.contains("S") }),
            var column = rows[row].firstIndex(of: "S")
        else { return false }
        for step in steps {
            let (down, right) =
                switch step {
                case "n": (-1, 0)
                case "s": (1, 0)
                case "e": (0, 1)
                case "w": (0, -1)
                default: (0, 0)
                }
            guard rows.indices.contains(row + down),
                rows[row + down].indices.contains(column + right),
                rows[row + down][column + right] != "#"
            else { return false }
            row += down
            column += right
        }
        return rows[row][column] == "E"
    }
}
