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
        var actions: [QueueAction]
    }

    func read() throws -> QueueRecord {
        guard let bytes = try files.read(Self.name) else {
            return QueueRecord(
                storeURL: storeURL, bundleID: bundleID, deviceUUID: newDeviceUUID)
        }
        return try parse(bytes)
    }

    /// Applies an event and makes it durable, other files before the queue's.
    /// `onlyIf` is asked, under the lock, whether the change still fits;
    /// where it does not, ``QueueFileFault/overtaken`` is thrown.
    func change(
        _ event: QueueEvent, with others: [DeviceFile] = [],
        onlyIf fits: (QueueRecord) -> Bool = { _ in true }
    ) throws -> Change {
        try files.withLock {
            let before = try read()
            guard fits(before) else { throw QueueFileFault.overtaken }
            var after = before
            let actions = after.apply(event)
            if after != before {
                let file = DeviceFile(name: Self.name, bytes: try encode(after))
                try files.replace(others + [file])
            }
            return Change(record: after, actions: actions)
        }
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
            throw QueueFileFault.unreadable(
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
    case unreadable(String)
    /// Another process changed it meanwhile: look again.
    case overtaken

    var description: String {
        switch self {
        case .newer(let version):
            "queue.json is of version \(version), newer than \(QueueRecord.versionMax), "
                + "the newest this build reads: update the app, or name another device folder"
        case .unreadable(let reason):
            "queue.json cannot be read: \(reason). Move it away to begin a new queue"
        case .overtaken:
            "queue.json was changed by another process"
        }
    }
}
