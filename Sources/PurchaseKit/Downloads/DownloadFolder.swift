// SPDX-License-Identifier: Apache-2.0

import ContentPackage
import Foundation

/// The files of all downloads, in the folder `downloads` beside the queue file:
/// for each a record, the package, and what it was unpacked to.
struct DownloadFolder: Sendable {
    let path: String

    /// Where the bytes arrive, and the whole package is.
    func package(_ key: String) -> String { "\(path)/\(key).zip" }

    /// The unpacked package: `ContentInfo.plist` and `Contents`.
    func unpacked(_ key: String) -> String { "\(path)/\(key)" }

    private func recordFile(_ key: String) -> String { "\(path)/\(key).json" }

    func isUnpacked(_ key: String) -> Bool {
        FileManager.default.fileExists(atPath: unpacked(key) + "/ContentInfo.plist")
    }

    /// A record that is missing or damaged counts as none: the content is then
    /// downloaded from the beginning.
    func record(_ key: String) -> DownloadRecord {
        FileManager.default.contents(atPath: recordFile(key))
            .flatMap { try? JSONDecoder().decode(DownloadRecord.self, from: $0) }
            ?? DownloadRecord()
    }

    func write(_ record: DownloadRecord, _ key: String) throws(DeviceFilesFault) {
        guard let bytes = try? JSONEncoder().encode(record) else { return }
        try make()
        let disk = SystemDisk()
        let new = "\(path)/.\(key).new"
        try disk.write(Array(bytes), to: new)
        try disk.rename(new, to: recordFile(key))
    }

    func open(
        _ key: String, writing: PartFile.Writing?
    ) throws(DeviceFilesFault) -> PartFile? {
        try make()
        guard let writing else { return try PartFile(package(key)) }
        return try PartFile(package(key), writing: writing)
    }

    /// Unpacks a whole package. What was unpacked before is replaced. Blocks.
    func unpack(
        _ key: String, _ goesOn: (Int64) -> Bool
    ) throws(ContentFault) -> ContentSummary {
        try? FileManager.default.removeItem(atPath: unpacked(key))
        return try ContentPackage.unpack(
            zip: package(key), to: unpacked(key), progress: goesOn)
    }

    func remove(_ key: String) {
        for file in [
            recordFile(key), package(key), unpacked(key), unpacked(key) + ".partial",
        ] {
            try? FileManager.default.removeItem(atPath: file)
        }
    }

    var names: [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    }

    /// Removes of the names what belongs to none of the keys: of transactions that
    /// were finished while their process ended.
    func clean(_ names: [String], keeping keys: Set<String>) {
        for name in names {
            let key = name.split(separator: ".").first.map(String.init) ?? name
            if !keys.contains(key) {
                try? FileManager.default.removeItem(atPath: "\(path)/\(name)")
            }
        }
    }

    private func make() throws(DeviceFilesFault) {
        if !SystemDisk().exists(path) { try SystemDisk().makeFolder(path) }
    }
}
