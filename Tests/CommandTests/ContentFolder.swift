// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Makes folders of packages.
enum ContentFolder {
    static func make(_ path: String, product: String, version: String = "1.0") throws {
        let folder = URL(fileURLWithPath: path)
        let contents = folder.appendingPathComponent("Contents")
        try FileManager.default.createDirectory(at: contents, withIntermediateDirectories: true)
        try Data("all of it".utf8).write(to: contents.appendingPathComponent("all.txt"))
        let info = """
            <?xml version="1.0" encoding="UTF-8"?>
            <plist version="1.0"><dict>
            <key>ContentVersion</key><string>\(version)</string>
            <key>IAPProductIdentifier</key><string>\(product)</string>
            </dict></plist>
            """
        try Data(info.utf8).write(to: folder.appendingPathComponent("ContentInfo.plist"))
    }
}
