// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport

/// Programs of others that tests ask for their opinion.
enum Command {
    /// Runs a program, named by its path or found on the path, to its end;
    /// once in a folder.
    static func run(
        _ program: String, _ arguments: [String], in folder: URL
    ) async throws -> ChildProcess.Outcome {
        try await ChildProcess.run([program] + arguments, folder: folder)
    }

    /// A folder of its own, removed afterwards.
    static func inFolder<Value>(_ body: (URL) async throws -> Value) async throws -> Value {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("signed-data-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        return try await body(folder)
    }

    /// The package's folder, found from this file's place in it.
    static var packageRoot: URL {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
    }
}
