// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A folder that is removed, with its contents, when the last reference to it
/// is released. A class for that reason.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        let base = FileManager.default.temporaryDirectory.path
        // mkdtemp needs six letters X at the end, and replaces them.
        let letters = String(repeating: "X", count: 6)
        let template = (base.hasSuffix("/") ? base : base + "/") + "shopkeeper-test.\(letters)"
        var bytes = Array(template.utf8CString)
        guard mkdtemp(&bytes) != nil else {
            throw CocoaError(.fileWriteUnknown, userInfo: [NSFilePathErrorKey: template])
        }
        path = String(decoding: bytes.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func file(_ name: String) -> String { path + "/" + name }
}
