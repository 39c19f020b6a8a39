// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A test's own folder. It is removed with its contents when the last reference
/// is released.
public final class TemporaryFolder: Sendable {
    /// Absolute, without a slash at the end.
    public let path: String

    /// Creates `NAME.XXXXXX` in the system's folder for temporary files.
    public init(_ name: String = "shopkeeper") throws {
        let base = FileManager.default.temporaryDirectory.path
        let template = base + (base.hasSuffix("/") ? "" : "/") + name + ".XXXXXX"
        var bytes = Array(template.utf8CString)
        guard mkdtemp(&bytes) != nil else {
            throw PlaceError("no temporary folder \(template) could be made")
        }
        path = String(decoding: bytes.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// The path of a file in this folder.
    public func file(_ name: String) -> String { path + "/" + name }
}

/// A test's own folder. Keep the result as long as the folder is needed.
public func temporaryFolder(_ name: String = "shopkeeper") throws -> TemporaryFolder {
    try TemporaryFolder(name)
}

public struct PlaceError: Error, CustomStringConvertible {
    public let description: String

    public init(_ description: String) {
        self.description = description
    }
}

/// The folder that contains `Package.swift`.
public enum PackageRoot {
    public static func path(from file: String = #filePath) throws -> String {
        var folder = URL(fileURLWithPath: file).deletingLastPathComponent()
        while folder.path != "/" {
            let manifest = folder.appendingPathComponent("Package.swift").path
            if FileManager.default.fileExists(atPath: manifest) { return folder.path }
            folder.deleteLastPathComponent()
        }
        throw PlaceError("no Package.swift above \(file)")
    }
}

/// Real files of others, which are not in the repository. Tests that need them
/// run only if `SHOPKEEPER_CORPUS` names their folder.
public enum CorpusLocation {
    public static var folder: String? {
        ProcessInfo.processInfo.environment["SHOPKEEPER_CORPUS"].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The paths of the corpus's files whose names end in `suffix`, sorted. Nil
    /// without a corpus.
    public static func files(endingIn suffix: String) -> [String]? {
        guard let folder else { return nil }
        guard let paths = FileManager.default.enumerator(atPath: folder) else { return [] }
        return paths.compactMap { $0 as? String }.filter { $0.hasSuffix(suffix) }
            .sorted().map { folder + "/" + $0 }
    }
}
