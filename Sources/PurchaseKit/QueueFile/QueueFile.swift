// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import Synchronization

/// The queue file. Every change reads it again under the lock, so that several
/// processes can share it, and replaces it as a whole.
struct QueueFile: Sendable {
    static let name = "queue.json"
    /// Room for 100,000 unfinished transactions. A larger file is not ours, because none is
    /// written.
    static let bytesMax = 512 * 1024 * 1024

    let files: any DeviceFiles
    let storeURL: String
    let bundleID: String?
    /// The installation's UUID, if this launch creates the file. Generated
    /// once, because the file may be read, and the UUID used to sign in, before
    /// the file is written.
    private let newDeviceUUID: String
    private let bytesMax: Int
    private let memory = QueueFileMemory()

    init(
        files: any DeviceFiles, storeURL: String, bundleID: String?, randomness: Randomness,
        bytesMax: Int = QueueFile.bytesMax
    ) {
        self.bytesMax = bytesMax
        self.files = files
        self.storeURL = storeURL
        self.bundleID = bundleID
        newDeviceUUID = randomness.uuid()
    }

    /// The record after a change, and the actions that follow from it.
    struct Change: Sendable {
        var record: QueueRecord
        var actions: [QueueAction] = []
        /// A sentence for the developer, if the file was set aside.
        var notice: String?
    }

    /// Of a file that is too large, only as much as shows this.
    private func bytes() throws -> [UInt8]? {
        try files.read(Self.name, atMost: bytesMax + 1)
    }

    func read() throws -> QueueRecord {
        guard let bytes = try bytes() else { return fresh }
        return try parse(bytes)
    }

    /// Returns the record, or a known one if the file was removed.
    func read(orElse known: QueueRecord?) throws -> QueueRecord? {
        guard let bytes = try bytes() else { return known }
        return try parse(bytes)
    }

    /// Returns the record at the beginning of a launch. First sets aside a file
    /// that cannot be used.
    func open(for launch: String) throws -> Change {
        do {
            return Change(record: try read())
        } catch let fault as QueueFileFault where fault.isSetAside {
            return try change(.launched(launch, ended: []))
        }
    }

    /// Applies an event and writes the record, as durably as the event
    /// requires. Other files are written before the queue's.
    ///
    /// `onlyIf` is called under the lock and returns whether the change still
    /// applies. If it does not, ``QueueFileFault/overtaken`` is thrown. A file
    /// that cannot be used, or was removed, is replaced by `known`, the record
    /// of this process, or by a new queue.
    func change(
        _ event: QueueEvent, with others: [DeviceFile] = [],
        onlyIf fits: (QueueRecord) -> Bool = { _ in true }, knowing known: QueueRecord? = nil
    ) throws -> Change {
        try files.withLock {
            let found = try find(known)
            guard fits(found.record) else { throw QueueFileFault.overtaken }
            var after = found.record
            let actions = after.apply(event)
            // Other files are written even if the record stays the same.
            let isChanged = after != found.record || !others.isEmpty
            if isChanged || found.copy != nil || found.isMissing {
                let file = DeviceFile(name: Self.name, bytes: try encode(after))
                guard file.bytes.count <= bytesMax else { throw QueueFileFault.full(bytesMax) }
                let before = others + (found.copy.map { [$0] } ?? [])
                if before.isEmpty, !event.mustLast {
                    try files.exchange(file)
                } else {
                    try files.replace(before + [file])
                }
                memory.keep(file.bytes, after)
            }
            return Change(record: after, actions: actions, notice: found.notice)
        }
    }

    private var fresh: QueueRecord {
        QueueRecord(storeURL: storeURL, bundleID: bundleID, deviceUUID: newDeviceUUID)
    }

    private struct Found {
        var record: QueueRecord
        /// The unusable bytes under their new name.
        var copy: DeviceFile?
        var notice: String?
        /// Whether there is no file although the record was on disk before.
        var isMissing = false
    }

    private func find(_ known: QueueRecord?) throws -> Found {
        guard let bytes = try bytes() else {
            return Found(record: known ?? fresh, isMissing: known?.entries.isEmpty == false)
        }
        do {
            return Found(record: try parse(bytes))
        } catch let fault as QueueFileFault where fault.isSetAside {
            let name = Self.asideName(bytes)
            let notice = fault.notice(name, known)
            guard bytes.count <= bytesMax else {
                // Only its beginning was read.
                try files.setAside(Self.name, as: name)
                return Found(record: known ?? fresh, notice: notice, isMissing: true)
            }
            return Found(
                record: known ?? fresh, copy: DeviceFile(name: name, bytes: bytes), notice: notice)
        }
    }

    /// Depends on the bytes only. If setting aside is interrupted, it is
    /// repeated and leaves one copy.
    private static func asideName(_ bytes: [UInt8]) -> String {
        "queue-aside-\(Fingerprint.of(bytes)).json"
    }

    private func parse(_ bytes: [UInt8]) throws -> QueueRecord {
        if let record = memory.record(in: bytes) { return record }
        let record = try decode(bytes)
        memory.keep(bytes, record)
        return record
    }

    private func decode(_ bytes: [UInt8]) throws -> QueueRecord {
        struct Versioned: Decodable { var version: Int }
        let data = Data(bytes)
        let decoder = JSONDecoder()
        guard bytes.count <= bytesMax, JSONNesting.isWithin(bytes),
            let version = try? decoder.decode(Versioned.self, from: data).version
        else { throw QueueFileFault.unreadable("it is not a queue file") }
        guard version <= QueueRecord.versionMax else { throw QueueFileFault.newer(version) }
        guard version >= QueueRecord.versionMin else {
            throw QueueFileFault.unreadable("this build no longer reads version \(version)")
        }
        var record: QueueRecord
        do {
            record = try decoder.decode(QueueRecord.self, from: data)
        } catch {
            throw QueueFileFault.unreadable("\(error)")
        }
        guard record.storeURL == storeURL, record.bundleID == bundleID else {
            throw QueueFileFault.foreign(
                "it is the queue of \(record.storeURL) and \(record.bundleID ?? "any app")")
        }
        record.version = QueueRecord.versionMax
        return record
    }

    private func encode(_ record: QueueRecord) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted]
        return Array(try encoder.encode(record)) + [UInt8(ascii: "\n")]
    }
}

/// The last contents that this process read or wrote. Decoding a long queue takes much
/// longer than comparing its bytes, and most changes find what the last one wrote. A class,
/// because copies of a ``QueueFile`` share it.
private final class QueueFileMemory: Sendable {
    private let last = Mutex<(bytes: [UInt8], record: QueueRecord)?>(nil)

    /// Returns the record that these bytes contain. Nil if they are others.
    func record(in bytes: [UInt8]) -> QueueRecord? {
        last.withLock { $0?.bytes == bytes ? $0?.record : nil }
    }

    func keep(_ bytes: [UInt8], _ record: QueueRecord) {
        last.withLock { $0 = (bytes, record) }
    }
}

/// A queue file that cannot be used.
enum QueueFileFault: Error, Hashable, CustomStringConvertible {
    /// A newer version of this software wrote it. Changing it would lose what
    /// only that version understands.
    case newer(Int)
    /// It is damaged, empty, or not a queue file.
    case unreadable(String)
    /// It is a valid file of another store or app, which may still use it.
    case foreign(String)
    /// Another process changed it in the meantime. Read it again.
    case overtaken
    /// It would become larger than what is read.
    case full(Int)

    /// Whether the file is set aside, so that a new queue takes its place.
    var isSetAside: Bool {
        switch self {
        case .newer, .unreadable: true
        case .foreign, .overtaken, .full: false
        }
    }

    var description: String {
        switch self {
        case .newer(let version):
            "queue.json is of version \(version), newer than \(QueueRecord.versionMax), "
                + "the newest this build reads"
        case .unreadable(let reason):
            "queue.json cannot be read: \(reason)"
        case .foreign(let reason):
            "queue.json cannot be used: \(reason). Name another device folder"
        case .overtaken:
            "queue.json was changed by another process"
        case .full(let bytes):
            "queue.json would have more than \(bytes) bytes: the app must finish transactions"
        }
    }

    /// Returns what happened, the consequence, and what to do.
    func notice(_ copy: String, _ known: QueueRecord?) -> String {
        let consequence =
            known == nil
            ? "The queue starts empty: unfinished transactions are read from the store again, "
                + "and a payment that had not been sent is not sent any more"
            : "The queue is written again as this process knew it"
        return "\(description). It was set aside as \(copy). \(consequence)."
    }
}
