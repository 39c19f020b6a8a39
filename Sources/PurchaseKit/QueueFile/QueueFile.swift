// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation

/// The queue file. Every change reads it again under the lock, so that
/// several processes may share it, and replaces it whole.
struct QueueFile: Sendable {
    static let name = "queue.json"
    /// A queue file is far below this; a larger one is not ours.
    static let bytesMax = 64 * 1024 * 1024

    let files: any DeviceFiles
    let storeURL: String
    let bundleID: String?
    /// The installation's name where this launch makes the file. Drawn once:
    /// the file may be read, and signed in with, before it is written.
    private let newDeviceUUID: String

    init(
        files: any DeviceFiles, storeURL: String, bundleID: String?, randomness: Randomness
    ) {
        self.files = files
        self.storeURL = storeURL
        self.bundleID = bundleID
        newDeviceUUID = randomness.uuid()
    }

    /// What a change left behind, and what is to be done now.
    struct Change: Sendable {
        var record: QueueRecord
        var actions: [QueueAction] = []
        /// A sentence for the developer, where the file was set aside.
        var notice: String?
    }

    func read() throws -> QueueRecord {
        guard let bytes = try files.read(Self.name) else { return fresh }
        return try parse(bytes)
    }

    /// The record at the beginning of a launch. A file that cannot be used is
    /// set aside first.
    func open(for launch: String) throws -> Change {
        do {
            return Change(record: try read())
        } catch let fault as QueueFileFault where fault.isSetAside {
            return try change(.launched(launch, ended: []))
        }
    }

    /// Applies an event and writes it, as durably as it asks for, other files
    /// before the queue's.
    /// `onlyIf` is asked, under the lock, whether the change still fits;
    /// where it does not, ``QueueFileFault/overtaken`` is thrown. A file that
    /// cannot be used, or has gone, is replaced by what this process `known`,
    /// else by a new queue.
    func change(
        _ event: QueueEvent, with others: [DeviceFile] = [],
        onlyIf fits: (QueueRecord) -> Bool = { _ in true }, knowing known: QueueRecord? = nil
    ) throws -> Change {
        try files.withLock {
            let found = try find(known)
            guard fits(found.record) else { throw QueueFileFault.overtaken }
            var after = found.record
            let actions = after.apply(event)
            if after != found.record || found.copy != nil || found.isMissing {
                let file = DeviceFile(name: Self.name, bytes: try encode(after))
                let before = others + (found.copy.map { [$0] } ?? [])
                if before.isEmpty, !event.mustLast {
                    try files.exchange(file)
                } else {
                    try files.replace(before + [file])
                }
            }
            return Change(record: after, actions: actions, notice: found.notice)
        }
    }

    private var fresh: QueueRecord {
        QueueRecord(storeURL: storeURL, bundleID: bundleID, deviceUUID: newDeviceUUID)
    }

    private struct Found {
        var record: QueueRecord
        /// The bytes that cannot be used, under their new name.
        var copy: DeviceFile?
        var notice: String?
        /// Whether there is no file, and the record has been on disk before.
        var isMissing = false
    }

    private func find(_ known: QueueRecord?) throws -> Found {
        guard let bytes = try files.read(Self.name) else {
            return Found(record: known ?? fresh, isMissing: known?.entries.isEmpty == false)
        }
        do {
            return Found(record: try parse(bytes))
        } catch let fault as QueueFileFault where fault.isSetAside {
            let copy = DeviceFile(name: Self.asideName(bytes), bytes: bytes)
            return Found(
                record: known ?? fresh, copy: copy, notice: fault.notice(copy.name, known))
        }
    }

    /// The same for the same bytes: setting aside that was cut short is done
    /// again, and leaves one copy.
    private static func asideName(_ bytes: [UInt8]) -> String {
        "queue-aside-\(Fingerprint.of(bytes)).json"
    }

    private func parse(_ bytes: [UInt8]) throws -> QueueRecord {
        struct Versioned: Decodable { var version: Int }
        let data = Data(bytes)
        let decoder = JSONDecoder()
        guard bytes.count <= Self.bytesMax, JSONNesting.isWithin(bytes),
            let version = try? decoder.decode(Versioned.self, from: data).version
        else { throw QueueFileFault.unreadable("it is not a queue file") }
        guard version <= QueueRecord.versionMax else { throw QueueFileFault.newer(version) }
        let record: QueueRecord
        do {
            record = try decoder.decode(QueueRecord.self, from: data)
        } catch {
            throw QueueFileFault.unreadable("\(error)")
        }
        guard record.storeURL == storeURL, record.bundleID == bundleID else {
            throw QueueFileFault.foreign(
                "it is the queue of \(record.storeURL) and \(record.bundleID ?? "any app")")
        }
        return record
    }

    private func encode(_ record: QueueRecord) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted]
        return Array(try encoder.encode(record)) + [UInt8(ascii: "\n")]
    }
}

/// A queue file that cannot be used.
enum QueueFileFault: Error, Hashable, CustomStringConvertible {
    /// A newer version of this software wrote it: changing it would lose
    /// what only that one understands.
    case newer(Int)
    /// It is damaged, empty, or no queue file at all.
    case unreadable(String)
    /// It is a good file of another store or app, which may use it still.
    case foreign(String)
    /// Another process changed it meanwhile: look again.
    case overtaken

    /// Whether the file is set aside, for a new queue to take its place.
    var isSetAside: Bool {
        switch self {
        case .newer, .unreadable: true
        case .foreign, .overtaken: false
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
        }
    }

    /// What happened, what follows from it, and what to do.
    func notice(_ copy: String, _ known: QueueRecord?) -> String {
        let consequence =
            known == nil
            ? "The queue begins anew: unfinished transactions are read from the store again, "
                + "and a payment that had not been sent is not sent any more"
            : "The queue is written again as this process knew it"
        return "\(description). It was set aside as \(copy). \(consequence)."
    }
}
