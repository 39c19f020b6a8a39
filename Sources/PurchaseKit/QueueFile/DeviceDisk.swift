// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// What ``FolderDeviceFiles`` asks of a disk, so that tests can put one there
/// that forgets what was not synced. The system promises no more than this: a
/// file's bytes last once the file was synced, and a name, new, changed or
/// gone, once the folder that holds it was.
protocol DeviceDisk: Sendable {
    /// Whether anything has this name.
    func exists(_ path: String) -> Bool

    /// Makes a folder, its owner's alone, where there is none. Its parent is there.
    func makeFolder(_ path: String) throws(DeviceFilesFault)

    /// Makes a new file, its owner's alone, in place of whatever has its
    /// name, writes it whole and syncs its bytes.
    func write(_ bytes: [UInt8], to path: String) throws(DeviceFilesFault)

    /// Gives a file the name of another in the same folder, which goes.
    func rename(_ path: String, to other: String) throws(DeviceFilesFault)

    /// Makes the names that a folder holds durable.
    func syncFolder(_ path: String) throws(DeviceFilesFault)
}

/// The system's own disk.
struct SystemDisk: DeviceDisk {
    func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    func makeFolder(_ path: String) throws(DeviceFilesFault) {
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
            throw DeviceFilesFault(system: "make the folder \(path)")
        }
    }

    /// Never into a file that is there: after a crash in the middle of a
    /// renaming it may have the other name besides.
    func write(_ bytes: [UInt8], to path: String) throws(DeviceFilesFault) {
        guard unlink(path) == 0 || errno == ENOENT else {
            throw DeviceFilesFault(system: "write \(path)")
        }
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw DeviceFilesFault(system: "write \(path)") }
        defer { close(descriptor) }
        var offset = 0
        while offset < bytes.count {
            let count = bytes.withUnsafeBytes { bytes in
                systemWrite(descriptor, UnsafeRawBufferPointer(rebasing: bytes[offset...]))
            }
            guard count > 0 else { throw DeviceFilesFault(system: "write \(path)") }
            offset += count
        }
        guard fsync(descriptor) == 0 else { throw DeviceFilesFault(system: "sync \(path)") }
    }

    func rename(_ path: String, to other: String) throws(DeviceFilesFault) {
        guard systemRename(path, other) == 0 else {
            throw DeviceFilesFault(system: "rename a file to \(other)")
        }
    }

    func syncFolder(_ path: String) throws(DeviceFilesFault) {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw DeviceFilesFault(system: "open \(path)") }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw DeviceFilesFault(system: "sync \(path)") }
    }
}

extension DeviceFilesFault {
    /// What the system has just refused, in its own words.
    init(system what: String) {
        let number = errno
        self.init(
            "could not \(what): \(String(cString: strerror(number)))", errorNumber: number)
    }
}

/// Members of these names hide the system's.
private func systemRename(_ path: String, _ other: String) -> Int32 { rename(path, other) }

private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    while true {
        let count = write(descriptor, bytes.baseAddress, bytes.count)
        if count >= 0 || errno != EINTR { return count }
    }
}
