// SPDX-License-Identifier: Apache-2.0

public import Commerce
import Storage

/// Packages as files of mode 0600 in one folder, which several processes and stores
/// may share: see ``ContentFolder``. Calls block on threads of its own, and not on
/// those that serve requests. A class, because all its users share the threads.
///
/// A package is never deleted, and a damaged one gets another name. Another store that
/// shares the folder, a backup that is restored later, or a customer in the middle of a
/// download may need it.
public final class FolderContentFiles: ContentFiles {
    private let folder: ContentFolder
    private let reading: WorkQueue
    private let checking: WorkQueue

    /// The calls at once. Each needs a thread, and memory for one window or piece.
    private static let readersMax = 8
    /// The checks at once. Each takes a processor for as long as it runs.
    private static let checksMax = 2

    /// `path`: a folder, which is made for the first upload.
    public init(path: String) {
        folder = ContentFolder(path: path)
        let busy = Refusal(.tooMany, code: "contentBusy", "Too many files are read and written.")
        reading = WorkQueue(
            "content", workers: Self.readersMax, workPerWorker: WorkQueue.jobsMax, busy: busy)
        checking = WorkQueue(
            "content.check", workers: Self.checksMax, workPerWorker: WorkQueue.jobsMax, busy: busy)
    }

    public func length(of sha256: String) async throws -> Int64? {
        let folder = folder
        return try await reading.run(1, for: nil) { try folder.length(folder.package(sha256)) }
    }

    public func isWhole(_ sha256: String, length: Int64) async throws -> Bool {
        let folder = folder
        return try await checking.run(1, for: nil) {
            try folder.isWhole(sha256, length: length)
        }
    }

    public func setAside(_ sha256: String) async throws {
        let folder = folder
        try await reading.run(1, for: nil) { try folder.setAside(sha256) }
    }

    public func open(_ sha256: String) async throws -> (any ContentReader)? {
        let (folder, queue) = (folder, reading)
        return try await reading.run(1, for: nil) {
            let package = folder.package(sha256)
            guard try folder.length(package) != nil, let file = try folder.open(package) else {
                return nil
            }
            return FileReader(file: file, length: try file.size(), queue: queue)
        }
    }

    public func received(_ upload: ContentUpload) async throws -> Int64 {
        let folder = folder
        return try await reading.run(1, for: nil) {
            try folder.length(folder.upload(upload)) ?? 0
        }
    }

    public func append(
        _ bytes: [UInt8], at offset: Int64, to upload: ContentUpload
    ) async throws -> ContentAppending {
        let folder = folder
        return try await reading.run(1, for: nil) {
            try folder.append(bytes, at: offset, to: upload)
        }
    }

    public func keep(
        _ upload: ContentUpload, _ check: @escaping @Sendable (_ path: String) throws -> Void
    ) async throws -> ContentKeeping {
        let folder = folder
        return try await checking.run(1, for: nil) { try folder.keep(upload, check) }
    }

    public func discard(_ upload: ContentUpload) async throws {
        let folder = folder
        _ = try await reading.run(1, for: nil) { try folder.discard(folder.upload(upload)) }
    }

    public func sweep(before: Timestamp) async throws -> Int {
        let folder = folder
        return try await reading.run(1, for: nil) {
            try folder.sweep(before: before.milliseconds)
        }
    }
}

/// One open package.
private struct FileReader: ContentReader {
    let file: ContentDescriptor
    let length: Int64
    let queue: WorkQueue

    func read(at offset: Int64, count: Int) async throws -> [UInt8] {
        let file = file
        return try await queue.run(1, for: nil) { try file.read(at: offset, count: count) }
    }
}
