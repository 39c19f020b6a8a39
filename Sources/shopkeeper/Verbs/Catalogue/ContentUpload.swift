// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Commerce
import ContentPackage
import Crypto
import Foundation
import Live
import StoreWire

extension ContentCommand {
    struct Upload: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "upload",
            abstract: "Upload a package; repeated after an interruption, it continues.",
            discussion: "Product and version are those of the package's ContentInfo.plist.")

        @Argument(help: "A ZIP or a folder.") var package: String
        @OptionGroup var app: AppOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let (store, bundleID) = try app.found()
            let record = try await LocalPackage(path: package).zipped { zip, summary in
                try await ContentUpload(
                    door: store.operatorDoor, zip: try ZipFile(path: zip),
                    product: summary.info.productId, version: summary.info.version,
                    bundleID: bundleID, isQuiet: printing.json
                ).run()
            }
            try printing.show(record, record.words)
        }
    }
}

/// An upload of a package to a running store, piece by piece.
private struct ContentUpload {
    /// The most bytes of a piece. The store takes no more.
    private static let pieceBytes = 1 << 20
    /// How often an upload asks again where to continue, without progress.
    private static let triesMax = 10

    let door: DoorClient
    let zip: ZipFile
    let product: String
    let version: String
    let bundleID: String
    let isQuiet: Bool

    private var path: String { ContentRecord.path(product, version, of: bundleID) }

    func run() async throws -> ContentRecord {
        var record = try await door.post(
            ContentRecord.path(product, of: bundleID),
            BeginContentRequest(version: version, length: zip.length, sha256: zip.sha256),
            as: ContentRecord.self)
        if record.state == "ready", record.isMissing != true {
            say("The store has \(product) \(version) already.")
            return record
        }
        if record.state == "ready" {
            say(
                "What the store has of \(product) \(version) is missing or damaged; it is replaced."
            )
        }
        if let received = record.received, received > 0 { say("Continues at byte \(received).") }
        var tries = 0
        var told = tenths(record.received ?? 0)
        while let received = record.received, received < zip.length {
            do {
                record = try await door.put(
                    path + "?offset=\(received)",
                    bytes: try zip.read(at: received, count: Self.pieceBytes),
                    as: ContentRecord.self)
                tries = 0
            } catch let failure as Failure
                where ["contentOffsetWrong", "contentBusy"].contains(failure.error.code)
                && tries < Self.triesMax
            {
                // Another upload of the same package, or a piece whose answer was lost.
                tries += 1
                if failure.error.code == "contentBusy" { try await Live.sleep(.seconds(1)) }
                record = try await door.get(path, as: ContentRecord.self)
            }
            let now = tenths(record.received ?? zip.length)
            if now > told { say("\(now * 10) % of \(zip.length) bytes") }
            told = max(told, now)
        }
        return try await complete()
    }

    /// The store answers while it still checks a large package.
    private func complete() async throws -> ContentRecord {
        var tries = 0
        while true {
            do {
                let record = try await door.post(
                    path + "/completion", [String: String](), as: ContentRecord.self)
                if record.state == "ready" { return record }
                say("The store checks the package.")
            } catch let failure as Failure
                where failure.error.code == "contentBusy" && tries < Self.triesMax
            {
                tries += 1
                try await Live.sleep(.seconds(1))
            }
        }
    }

    private func tenths(_ received: Int64) -> Int64 { received * 10 / max(1, zip.length) }

    private func say(_ line: String) {
        if !isQuiet { Output.complain(line) }
    }
}

/// A file that is read in pieces. A class, because it owns the open file.
private final class ZipFile {
    let length: Int64
    let sha256: String
    private let handle: FileHandle

    init(path: String) throws {
        guard let handle = FileHandle(forReadingAtPath: path) else {
            throw Failure(
                .input, "fileUnreadable", "\(path) cannot be read.", field: "package",
                rule: "a ZIP or a folder", remedy: "name one that is there and that you may read")
        }
        self.handle = handle
        var digest = SHA256()
        var length: Int64 = 0
        while let bytes = try handle.read(upToCount: 1 << 20), !bytes.isEmpty {
            digest.update(data: bytes)
            length += Int64(bytes.count)
        }
        self.length = length
        sha256 = hexadecimal(digest.finalize())
    }

    func read(at offset: Int64, count: Int) throws -> Data {
        try handle.seek(toOffset: UInt64(offset))
        return try handle.read(upToCount: count) ?? Data()
    }
}
