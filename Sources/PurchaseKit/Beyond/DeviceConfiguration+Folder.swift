// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import Live

extension DeviceConfiguration {
    /// The store's URL in canonical form.
    var storeAddress: String {
        var text = storeURL.absoluteString
        while text.hasSuffix("/") { text.removeLast() }
        return text
    }

    /// The folder for this store and app, within the device folder.
    var queueFolder: URL {
        let store = storeAddress
        let name = [
            storeURL.host ?? "store", storeURL.port.map(String.init) ?? "", bundleID?.value,
        ]
        .compactMap { $0 }.filter { !$0.isEmpty }.joined(separator: "-")
        let readable = name.map { Self.isPlain($0) ? $0 : "_" }.prefix(100)
        // The file contains store and app too, so that a collision is detected.
        let mark = Fingerprint.of("\(store)\n\(bundleID?.value ?? "")".utf8)
        return folder.appendingPathComponent("\(String(readable))-\(mark)", isDirectory: true)
    }

    /// The app's folder in the user's data folder.
    static func defaultFolder(for bundleID: BundleID?) -> URL {
        let data =
            Live.environment["XDG_DATA_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
            .map { URL(fileURLWithPath: $0, isDirectory: true) }
            ?? FileManager.default.homeDirectoryForCurrentUser
            .appendingPathComponent(".local/share", isDirectory: true)
        let app = (bundleID?.value ?? "unnamed").map { isPlain($0) ? $0 : "_" }.prefix(150)
        return
            data
            .appendingPathComponent("shopkeeper/devices", isDirectory: true)
            .appendingPathComponent("app-" + String(app), isDirectory: true)
    }

    private static func isPlain(_ character: Character) -> Bool {
        character.isASCII
            && (character.isLetter || character.isNumber || character == "." || character == "-")
    }
}
