// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A program that is found on the path.
enum Command {
    /// Returns its output. Throws if it fails.
    @discardableResult
    static func run(_ words: String...) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = words
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let answer = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw ClientFailure("\(words[0]) ended with \(process.terminationStatus)")
        }
        return String(decoding: answer, as: UTF8.self)
    }
}
