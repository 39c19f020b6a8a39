// SPDX-License-Identifier: Apache-2.0

import Commerce
import Crypto
import Foundation
import Storage

/// The folder of packages, with calls that block:
///
/// - `packages/AB/DIGEST`: packages, by the first digits of their SHA-256;
/// - `uploads/NAME`: uploads.
///
/// A writer locks an upload's file. It also checks that the file still has its name,
/// because the one who had the lock before may have renamed or deleted it.
struct ContentFolder: Sendable {
    /// The bytes in memory while a file is read.
    static let windowBytes = 1 << 20

    let path: String

    func package(_ sha256: String) -> String { "\(path)/packages/\(sha256.prefix(2))/\(sha256)" }

    func upload(_ upload: ContentUpload) -> String { "\(path)/uploads/\(upload.name)" }

    // MARK: Packages

    /// Whether a package is there with all its bytes, which are read.
    func isWhole(_ sha256: String, length: Int64) throws -> Bool {
        let package = self.package(sha256)
        guard try self.length(package) == length, let file = try open(package) else {
            return false
        }
        return try file.sha256() == sha256
    }

    /// Gives what has a package's name another one: `DIGEST.damaged`.
    func setAside(_ sha256: String) throws {
        let package = self.package(sha256)
        guard rename(package, package + ".damaged") == 0 || errno == ENOENT || errno == ENOTDIR
        else { throw Self.fault(package, "set aside") }
    }

    /// Nil if there is no file. A folder or a link in its place is none.
    func length(_ file: String) throws -> Int64? {
        var facts = stat()
        if lstat(file, &facts) == 0 {
            return facts.st_mode & S_IFMT == S_IFREG ? Int64(facts.st_size) : nil
        }
        guard errno == ENOENT || errno == ENOTDIR else { throw Self.fault(file, "read") }
        return nil
    }

    /// Returns the open file. Nil if there is none.
    func open(_ file: String, _ flags: Int32 = O_RDONLY) throws -> ContentDescriptor? {
        let number = openFile(file, flags)
        if number >= 0 { return ContentDescriptor(number, file) }
        guard errno == ENOENT || errno == ENOTDIR else { throw Self.fault(file, "open") }
        return nil
    }

    // MARK: Uploads

    /// Writes a piece at the end of an upload. See ``ContentFiles/append(_:at:to:)``.
    func append(
        _ bytes: [UInt8], at offset: Int64, to upload: ContentUpload
    ) throws -> ContentAppending {
        let file = self.upload(upload)
        let isNew = try length(file) == nil
        // A piece that is not the first begins no upload.
        guard !isNew || offset == 0 else { return .elsewhere(received: 0) }
        if isNew { try makeFolder("\(path)/uploads") }
        guard let part = try open(file, O_RDWR | O_CREAT) else { return .busy }
        guard try part.lock() else { return .busy }
        let received = try part.size()
        guard received == offset else { return .elsewhere(received: received) }
        guard Int64(bytes.count) <= upload.length - offset else { return .beyond }
        do {
            try part.write(bytes, at: offset)
            try part.sync()
        } catch {
            // On a full disk, what was written of the piece is in the way.
            ftruncate(part.number, off_t(offset))
            throw error
        }
        if isNew { try syncFolder("\(path)/uploads") }
        return .appended(received: offset + Int64(bytes.count))
    }

    /// See ``ContentFiles/keep(_:_:)``.
    func keep(
        _ upload: ContentUpload, _ check: (_ path: String) throws -> Void
    ) throws -> ContentKeeping {
        let (file, package) = (self.upload(upload), package(upload.sha256))
        guard let part = try open(file, O_RDWR) else {
            guard try isWhole(upload.sha256, length: upload.length) else {
                return .incomplete(received: 0)
            }
            try check(package)
            return .kept
        }
        guard try part.lock() else { return .busy }
        let received = try part.size()
        guard received == upload.length else { return .incomplete(received: received) }
        guard try part.sha256() == upload.sha256 else {
            try remove(file)
            return .corrupt
        }
        do { try check(file) } catch let refusal as Refusal {
            try remove(file)
            throw refusal
        }
        try part.sync()
        let home = "\(path)/packages/\(upload.sha256.prefix(2))"
        try makeFolder(home)
        // A folder or a link that is in its place.
        if try length(package) == nil { try setAside(upload.sha256) }
        guard rename(file, package) == 0 else { throw Self.fault(package, "place") }
        try syncFolder(home)
        try syncFolder("\(path)/uploads")
        return .kept
    }

    /// Deletes an upload, unless it is locked.
    func discard(_ file: String, unlessWrittenSince date: Int64? = nil) throws -> Bool {
        guard let part = try open(file, O_RDWR), try part.lock() else { return false }
        if let date, try part.writtenAt() >= date { return false }
        try remove(file)
        return true
    }

    /// Deletes uploads that were last written before a date, in milliseconds.
    func sweep(before date: Int64) throws -> Int {
        let folder = "\(path)/uploads"
        guard try isFolder(folder) else { return 0 }
        var count = 0
        for name in try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
        where try discard("\(folder)/\(name)", unlessWrittenSince: date) {
            count += 1
        }
        return count
    }

    // MARK: Folders

    private func isFolder(_ path: String) throws -> Bool {
        var facts = stat()
        if stat(path, &facts) == 0 { return facts.st_mode & S_IFMT == S_IFDIR }
        guard errno == ENOENT else { throw Self.fault(path, "read") }
        return false
    }

    private func remove(_ file: String) throws {
        guard unlink(file) == 0 || errno == ENOENT else { throw Self.fault(file, "remove") }
        try syncFolder("\(path)/uploads")
    }

    /// Makes a folder with its missing parents. Their names are durable then.
    private func makeFolder(_ folder: String) throws {
        if mkdir(folder, 0o700) == 0 { return try syncFolder(Self.parent(of: folder)) }
        if errno == EEXIST { return }
        guard errno == ENOENT, Self.parent(of: folder) != folder else {
            throw Self.fault(folder, "make")
        }
        try makeFolder(Self.parent(of: folder))
        guard mkdir(folder, 0o700) == 0 || errno == EEXIST else {
            throw Self.fault(folder, "make")
        }
        try syncFolder(Self.parent(of: folder))
    }

    private func syncFolder(_ folder: String) throws {
        guard let opened = try open(folder, O_RDONLY | O_DIRECTORY) else {
            throw Self.fault(folder, "open")
        }
        try opened.sync()
    }

    private static func parent(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    // MARK: Faults

    static func fault(_ path: String, _ verb: String) -> StorageFault {
        let reason = String(cString: strerror(errno))
        let code: StorageFault.Code =
            switch errno {
            case ENOSPC, EDQUOT, EFBIG: .full
            case EROFS: .readOnly
            default: .unavailable
            }
        return StorageFault(code, "cannot \(verb) \(path): \(reason)")
    }
}

/// Outside of types that have an `open` of their own.
private func openFile(_ path: String, _ flags: Int32) -> Int32 {
    retried { open(path, flags | O_NOFOLLOW | O_CLOEXEC, 0o600) }
}

/// Repeats a call that a signal has interrupted.
private func retried(_ call: () -> Int32) -> Int32 {
    while true {
        let result = call()
        if result >= 0 || errno != EINTR { return result }
    }
}

/// An open file. Closed when nothing refers to it any more, which also ends its lock.
/// A class, because only a class has an end.
final class ContentDescriptor: Sendable {
    let number: Int32
    private let path: String

    init(_ number: Int32, _ path: String) {
        (self.number, self.path) = (number, path)
    }

    deinit { close(number) }

    /// Returns whether this call owns the file that has the path.
    func lock() throws -> Bool {
        guard retried({ flock(number, LOCK_EX | LOCK_NB) }) == 0 else {
            guard errno == EWOULDBLOCK else { throw ContentFolder.fault(path, "lock") }
            return false
        }
        var (mine, named) = (stat(), stat())
        guard fstat(number, &mine) == 0 else { throw ContentFolder.fault(path, "read") }
        guard lstat(path, &named) == 0 else {
            guard errno == ENOENT else { throw ContentFolder.fault(path, "read") }
            return false
        }
        return mine.st_ino == named.st_ino && mine.st_dev == named.st_dev
    }

    func size() throws -> Int64 {
        var facts = stat()
        guard fstat(number, &facts) == 0 else { throw ContentFolder.fault(path, "read") }
        return Int64(facts.st_size)
    }

    /// In milliseconds since 1970.
    func writtenAt() throws -> Int64 {
        var facts = stat()
        guard fstat(number, &facts) == 0 else { throw ContentFolder.fault(path, "read") }
        #if canImport(Darwin)
            let time = facts.st_mtimespec
        #else
            let time = facts.st_mtim
        #endif
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }

    func read(at offset: Int64, count: Int) throws -> [UInt8] {
        try [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while filled < count {
                let read = pread(
                    number, buffer.baseAddress.map { $0 + filled }, count - filled,
                    off_t(offset) + off_t(filled))
                if read < 0, errno == EINTR { continue }
                guard read >= 0 else { throw ContentFolder.fault(path, "read") }
                if read == 0 { return }
                filled += read
            }
        }
    }

    func write(_ bytes: [UInt8], at offset: Int64) throws {
        var done = 0
        while done < bytes.count {
            let written = bytes.withUnsafeBytes { buffer in
                pwrite(
                    number, buffer.baseAddress.map { $0 + done }, bytes.count - done,
                    off_t(offset) + off_t(done))
            }
            if written < 0, errno == EINTR { continue }
            guard written > 0 else { throw ContentFolder.fault(path, "write") }
            done += written
        }
    }

    func sync() throws {
        guard retried({ fsync(number) }) == 0 else { throw ContentFolder.fault(path, "sync") }
    }

    /// The digest of the whole file, in lower-case hexadecimal digits.
    func sha256() throws -> String {
        var digest = SHA256()
        var offset: Int64 = 0
        while true {
            let bytes = try read(at: offset, count: ContentFolder.windowBytes)
            if bytes.isEmpty { return hexadecimal(digest.finalize()) }
            digest.update(data: bytes)
            offset += Int64(bytes.count)
        }
    }
}
