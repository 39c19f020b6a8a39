// SPDX-License-Identifier: Apache-2.0

public import Foundation
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A device folder on disk. The folder is the user's alone (0700), its files
/// too (0600). A class, because it holds the open files that show that its
/// launches live.
public final class FolderDeviceFiles: DeviceFiles {
    private let folder: String
    private let claims = Mutex<[String: Int32]>([:])

    /// Makes nothing before the first write.
    public init(folder: URL) {
        self.folder = folder.path
    }

    deinit {
        claims.withLock { claims in
            for descriptor in claims.values { close(descriptor) }
        }
    }

    public func url(of name: String) -> URL? {
        URL(fileURLWithPath: path(name))
    }

    public func read(_ name: String) throws -> [UInt8]? {
        let descriptor = open(path(name), O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw fault("read \(path(name))")
        }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = systemRead(descriptor, &buffer)
            if count == 0 { return bytes }
            guard count > 0 else { throw fault("read \(path(name))") }
            bytes += buffer[..<count]
        }
    }

    public func replace(_ files: [DeviceFile]) throws {
        try makeFolder()
        for file in files { try write(file, to: temporary(file.name)) }
        for file in files where rename(temporary(file.name), path(file.name)) != 0 {
            throw fault("rename a file to \(path(file.name))")
        }
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw fault("open \(folder)") }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw fault("sync \(folder)") }
    }

    public func withLock<Result>(_ body: () throws -> Result) throws -> Result {
        try makeFolder()
        let descriptor = try openLock("queue.lock")
        defer { close(descriptor) }
        while flock(descriptor, LOCK_EX) != 0 {
            guard errno == EINTR else { throw fault("lock \(path("queue.lock"))") }
        }
        return try body()
    }

    public func claim(launch: String) throws {
        try makeFolder()
        let descriptor = try openLock(claimName(launch))
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let fault = fault("claim the launch \(launch)")
            close(descriptor)
            throw fault
        }
        claims.withLock { $0[launch] = descriptor }
    }

    public func release(launch: String) {
        guard let descriptor = claims.withLock({ $0.removeValue(forKey: launch) }) else { return }
        unlink(path(claimName(launch)))
        close(descriptor)
    }

    public func isClaimed(launch: String) -> Bool {
        let descriptor = open(path(claimName(launch)), O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { return true }
        unlink(path(claimName(launch)))
        return false
    }

    private func path(_ name: String) -> String { folder + "/" + name }

    /// One for every process: temporary files are written under the lock.
    private func temporary(_ name: String) -> String { path(".\(name).new") }

    private func claimName(_ launch: String) -> String { "launch-\(launch).lock" }

    private func openLock(_ name: String) throws -> Int32 {
        let descriptor = open(path(name), O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw fault("open \(path(name))") }
        return descriptor
    }

    private func makeFolder() throws {
        guard access(folder, F_OK) != 0 else { return }
        do {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
        } catch {
            throw DeviceFilesFault("make the folder \(folder): \(error)", errorNumber: errno)
        }
    }

    private func write(_ file: DeviceFile, to path: String) throws {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw fault("write \(path)") }
        defer { close(descriptor) }
        var offset = 0
        while offset < file.bytes.count {
            let count = file.bytes.withUnsafeBytes { bytes in
                systemWrite(descriptor, UnsafeRawBufferPointer(rebasing: bytes[offset...]))
            }
            guard count > 0 else { throw fault("write \(path)") }
            offset += count
        }
        guard fsync(descriptor) == 0 else { throw fault("sync \(path)") }
    }

    private func fault(_ what: String) -> DeviceFilesFault {
        let number = errno
        return DeviceFilesFault(
            "could not \(what): \(String(cString: strerror(number)))", errorNumber: number)
    }
}

private func systemRead(_ descriptor: Int32, _ buffer: inout [UInt8]) -> Int {
    while true {
        let count = read(descriptor, &buffer, buffer.count)
        if count >= 0 || errno != EINTR { return count }
    }
}

private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    while true {
        let count = write(descriptor, bytes.baseAddress, bytes.count)
        if count >= 0 || errno != EINTR { return count }
    }
}
