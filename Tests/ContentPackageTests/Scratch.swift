// SPDX-License-Identifier: Apache-2.0

import ContentPackage
import Foundation

/// A folder of one test, removed with it.
final class Scratch {
    let path: String

    init() throws {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "content-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        path = folder.path
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func at(_ name: String) -> String { path + "/" + name }

    func write(_ name: String, _ text: String) throws {
        let url = URL(fileURLWithPath: at(name))
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
    }

    func read(_ name: String) -> String? {
        FileManager.default.contents(atPath: at(name)).map { String(decoding: $0, as: UTF8.self) }
    }

    var names: [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: path).sorted()) ?? []
    }

    /// A good package as the folder `package`.
    func makeFolder() throws {
        try write("package/ContentInfo.plist", HandmadeZip.info)
        try write("package/Contents/map.txt", "a map")
        try write("package/Contents/sounds/ü.txt", String(repeating: "la ", count: 1000))
    }
}

/// What a call throws.
func fault(_ body: () throws(ContentFault) -> ContentSummary) -> ContentFault? {
    do throws(ContentFault) {
        _ = try body()
        return nil
    } catch { return error }
}
