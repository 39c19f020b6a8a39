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

/// A device folder on disk. Folder (0700) and files (0600) are accessible to
/// the user only. A class, because it holds the open files that show that its
/// launches are alive.
public final class FolderDeviceFiles: DeviceFiles {
    private let folder: String
    private let disk: any DeviceDisk
    /// How long to wait for another process's change. A change takes
    /// milliseconds.
    private let lockMicroseconds: UInt32 = 5_000_000
    private let claims = Mutex<[String: Int32]>([:])

    /// Creates nothing before the first write.
    public convenience init(folder: URL) {
        self.init(folder: folder, disk: SystemDisk())
    }

    init(folder: URL, disk: any DeviceDisk) {
        self.folder = folder.path
        self.disk = disk
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
        try read(name, atMost: .max)
    }

    public func read(_ name: String, atMost limit: Int) throws -> [UInt8]? {
        // Without O_NONBLOCK, opening a pipe would wait for a process that writes.
        let descriptor = open(path(name), O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            // A socket, or a link that leads to itself, has no bytes to read.
            if errno == ENXIO || errno == ELOOP, isNoFile(path(name)) { return [] }
            throw fault("read \(path(name))")
        }
        defer { close(descriptor) }
        // Reading a device or a pipe might never end.
        guard Self.isFile(descriptor) else { return [] }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = systemRead(descriptor, &buffer)
            if count == 0 { return bytes }
            if count > limit - bytes.count { return bytes + buffer[..<(limit - bytes.count)] }
            guard count > 0 else { throw fault("read \(path(name))") }
            bytes += buffer[..<count]
        }
    }

    /// Each name is made durable before the next is changed. A single sync
    /// could make names durable in any order.
    public func replace(_ files: [DeviceFile]) throws {
        try makeFolder()
        for file in files { try write(file) }
        for file in files {
            try place(file.name)
            try disk.syncFolder(folder)
        }
    }

    /// The contents are synced, because a name without contents would be an
    /// empty file.
    public func exchange(_ file: DeviceFile) throws {
        try makeFolder()
        try write(file)
        try place(file.name)
    }

    /// Writes a file under its temporary name. Only a folder needs to be renamed
    /// first, because anything else is removed.
    private func write(_ file: DeviceFile) throws {
        let path = temporary(file.name)
        var facts = stat()
        if lstat(path, &facts) == 0, facts.st_mode & S_IFMT == S_IFDIR {
            try disk.rename(path, to: try freeName(besides: ".\(file.name).new"))
        }
        try disk.write(file.bytes, to: path)
    }

    /// Gives a written file its name. What is no file, such as a folder, is
    /// renamed first.
    private func place(_ name: String) throws {
        if isNoFile(path(name)) {
            try disk.rename(path(name), to: try freeName(besides: name))
        }
        try disk.rename(temporary(name), to: path(name))
    }

    private func freeName(besides name: String) throws -> String {
        for number in 1...100 {
            let free = path("\(name).no-file-\(number)")
            var facts = stat()
            if lstat(free, &facts) != 0, errno == ENOENT { return free }
        }
        throw DeviceFilesFault(
            "could not set \(path(name)) aside: remove what stands in its place",
            errorNumber: EEXIST)
    }

    private static func isFile(_ descriptor: Int32) -> Bool {
        var facts = stat()
        return fstat(descriptor, &facts) == 0 && facts.st_mode & S_IFMT == S_IFREG
    }

    /// A symbolic link counts as what it leads to. One that leads nowhere is
    /// replaced, as a file is. One that leads to itself is set aside.
    private func isNoFile(_ path: String) -> Bool {
        var facts = stat()
        if stat(path, &facts) == 0 { return facts.st_mode & S_IFMT != S_IFREG }
        // The folder itself may be such a link. It is not set aside.
        return errno == ELOOP && lstat(path, &facts) == 0
    }

    public func withLock<Result>(_ body: () throws -> Result) throws -> Result {
        try makeFolder()
        let descriptor = try openLock("queue.lock")
        defer { close(descriptor) }
        try lock(descriptor)
        return try body()
    }

    /// Waits for a limited time: a process that was stopped while it held the
    /// lock must not stop every other one with it.
    private func lock(_ descriptor: Int32) throws {
        var waited: UInt32 = 0
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR else {
                throw fault("lock \(path("queue.lock"))")
            }
            guard waited < lockMicroseconds else {
                throw DeviceFilesFault(
                    "could not lock \(path("queue.lock")): another process keeps it locked",
                    errorNumber: EWOULDBLOCK)
            }
            let pause = min(1000 + waited / 16, 10_000)
            usleep(pause)
            waited += pause
        }
    }

    public func claim(launch: String) throws {
        try makeFolder()
        try settle()
        try claims.withLock { claims in
            // A launch whose queue could not be opened claims again.
            if let known = claims[launch] {
                if isNamed(known, claimName(launch)) { return }
                close(known)
                claims[launch] = nil
            }
            claims[launch] = try lockedClaim(launch)
        }
        removeClaims(except: launch)
    }

    /// Another process may remove the file between its opening and its locking, because it
    /// takes it for that of a launch that has ended.
    private func lockedClaim(_ launch: String) throws -> Int32 {
        for _ in 1...100 {
            let descriptor = try openLock(claimName(launch))
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
                let fault = fault("claim the launch \(launch)")
                close(descriptor)
                throw fault
            }
            if isNamed(descriptor, claimName(launch)) { return descriptor }
            close(descriptor)
        }
        throw DeviceFilesFault(
            "could not claim the launch \(launch): its file is removed again and again",
            errorNumber: EAGAIN)
    }

    /// Whether an open file still has its name.
    private func isNamed(_ descriptor: Int32, _ name: String) -> Bool {
        var (held, named) = (stat(), stat())
        return fstat(descriptor, &held) == 0 && stat(path(name), &named) == 0
            && held.st_ino == named.st_ino && held.st_dev == named.st_dev
    }

    /// Removes the files of launches that have ended. They would collect, because nothing
    /// runs when a process is killed.
    private func removeClaims(except launch: String) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        for name in names where name.hasPrefix("launch-") && name.hasSuffix(".lock") {
            let other = String(name.dropFirst("launch-".count).dropLast(".lock".count))
            if other != launch { _ = isClaimed(launch: other) }
        }
    }

    public func setAside(_ name: String, as other: String) throws {
        try disk.rename(path(name), to: path(other))
        try disk.syncFolder(folder)
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

    /// The same for every process, because temporary files are written under
    /// the lock.
    private func temporary(_ name: String) -> String { path(".\(name).new") }

    private func claimName(_ launch: String) -> String { "launch-\(launch).lock" }

    private func openLock(_ name: String) throws -> Int32 {
        let descriptor = open(path(name), O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw fault("open \(path(name))") }
        return descriptor
    }

    private func makeFolder() throws {
        if !disk.exists(folder) { try make(folder) }
    }

    /// Creates a folder with its missing parents. Each one is synced, from the
    /// top, because a name is durable only after its folder was synced.
    private func make(_ path: String) throws {
        let parent = Self.parent(of: path)
        if disk.exists(parent) {
            try syncOthers(Self.parent(of: parent))
        } else {
            try make(parent)
        }
        try disk.makeFolder(path)
        try disk.syncFolder(parent)
    }

    /// Makes durable what an earlier process changed and did not sync before it
    /// ended. It is visible but can still be lost, so it must not be reported
    /// before this.
    private func settle() throws {
        try disk.syncFolder(folder)
        try syncOthers(Self.parent(of: folder))
    }

    /// Syncs a folder that may belong to another user, who may allow us to
    /// enter it but not to open it, or that may be on a file system without
    /// syncing. In these cases the folder's names are not our responsibility.
    private func syncOthers(_ path: String) throws {
        do {
            try disk.syncFolder(path)
        } catch let fault where [EACCES, EPERM, EINVAL, EROFS].contains(fault.errorNumber) {}
    }

    private static func parent(of path: String) -> String {
        let parent = path[..<(path.lastIndex(of: "/") ?? path.startIndex)]
        return parent.isEmpty ? "/" : String(parent)
    }

    private func fault(_ what: String) -> DeviceFilesFault { DeviceFilesFault(system: what) }
}

/// `read`, begun again if a signal interrupts it.
func systemRead(_ descriptor: Int32, _ buffer: inout [UInt8]) -> Int {
    while true {
        let count = read(descriptor, &buffer, buffer.count)
        if count >= 0 || errno != EINTR { return count }
    }
}
