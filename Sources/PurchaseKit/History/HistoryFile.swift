// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation

/// The history files, one for each customer. Every change reads the file again
/// under the lock, so that several processes can share it, and replaces it as a
/// whole.
///
/// A history is written after the queue file, and only the bytes are waited
/// for: whatever is lost is read from the store again. It never decides whether
/// a transaction is delivered.
struct HistoryFile: Sendable {
    /// Some seventy thousand transactions. A larger file is not read.
    static let bytesMax = 256 * 1024 * 1024

    let files: any DeviceFiles
    let bytesMax: Int

    init(files: any DeviceFiles, bytesMax: Int = HistoryFile.bytesMax) {
        self.files = files
        self.bytesMax = bytesMax
    }

    /// A history as it was found or written.
    struct Found: Sendable {
        var record: HistoryRecord
        /// A sentence for the developer, if the file cannot be used.
        var notice: String?
        /// The unusable bytes under their new name.
        fileprivate var copy: DeviceFile?
    }

    static func name(of owner: Owner) -> String { "history-\(mark(owner)).json" }

    /// One name, so that copies do not pile up. The store has what was in it.
    static func asideName(of owner: Owner) -> String { "history-aside-\(mark(owner)).json" }

    private static func mark(_ owner: Owner) -> String {
        Fingerprint.of("\(owner.realm)\n\(owner.customer)".utf8)
    }

    /// Returns the history, or an empty one in place of a file that is missing
    /// or cannot be used.
    func read(_ origin: HistoryOrigin) throws -> Found {
        let name = Self.name(of: origin.owner)
        guard let bytes = try files.read(name, atMost: bytesMax + 1) else {
            return Found(record: HistoryRecord(origin))
        }
        do throws(HistoryFault) {
            return Found(record: try parse(bytes, origin))
        } catch {
            let copy = DeviceFile(name: Self.asideName(of: origin.owner), bytes: bytes)
            return Found(
                record: HistoryRecord(origin), notice: error.notice(name, copy.name), copy: copy)
        }
    }

    /// Adds pages and writes the history. First sets aside a file that cannot
    /// be used. `isCurrent` is called under the lock and returns whether the
    /// pages are still of this origin. If they are not,
    /// ``QueueFileFault/overtaken`` is thrown.
    func add(
        _ pages: HistoryPages, to origin: HistoryOrigin, ifCurrent isCurrent: () throws -> Bool
    ) throws -> Found {
        try files.withLock {
            guard try isCurrent() else { throw QueueFileFault.overtaken }
            var found = try read(origin)
            let before = found.record
            found.record.add(pages)
            guard found.record != before || found.copy != nil else { return found }
            let bytes = try encode(found.record)
            guard bytes.count <= bytesMax else { throw HistoryFault.tooLarge }
            if let copy = found.copy { try files.exchange(copy) }
            try files.exchange(DeviceFile(name: Self.name(of: origin.owner), bytes: bytes))
            return found
        }
    }

    private func parse(
        _ bytes: [UInt8], _ origin: HistoryOrigin
    ) throws(HistoryFault) -> HistoryRecord {
        struct Versioned: Decodable { var version: Int }
        guard bytes.count <= bytesMax else { throw .tooLarge }
        let data = Data(bytes)
        let decoder = JSONDecoder()
        guard JSONNesting.isWithin(bytes),
            let version = try? decoder.decode(Versioned.self, from: data).version
        else { throw .unreadable }
        guard version <= HistoryRecord.versionMax else { throw .newer(version) }
        guard let record = try? decoder.decode(HistoryRecord.self, from: data),
            record.isPossible
        else { throw .unreadable }
        guard record.origin == origin else { throw .foreign }
        return record
    }

    private func encode(_ record: HistoryRecord) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(record)) + [UInt8(ascii: "\n")]
    }
}

/// Why a history file cannot be used.
enum HistoryFault: Error, Hashable {
    case unreadable
    /// A newer version of this software wrote it.
    case newer(Int)
    /// It is of another installation, customer or generation of the store.
    case foreign
    case tooLarge

    /// Returns what happened and the consequence.
    func notice(_ name: String, _ copy: String) -> String {
        let reason =
            switch self {
            case .unreadable: "is damaged"
            case .newer(let version):
                "is of version \(version), newer than \(HistoryRecord.versionMax), the newest "
                    + "this build reads"
            case .foreign:
                "is of another queue file, another customer, or a store that was restored or "
                    + "reset since"
            case .tooLarge: "is larger than a history can be"
            }
        return "\(name) \(reason). It is set aside as \(copy), and the transactions are read "
            + "from the store again."
    }
}
