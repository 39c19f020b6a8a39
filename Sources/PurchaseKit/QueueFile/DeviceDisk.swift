// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The file operations of ``FolderDeviceFiles``, so that tests can use a disk
/// that forgets what was not synced. The system promises only this: the
/// contents of a file are durable after the file was synced. A new, changed or
/// removed name is durable after its folder was synced.
protocol DeviceDisk: Sendable {
    /// Whether a file or folder has this path.
    func exists(_ path: String) -> Bool

    /// Creates a folder for its owner only, if there is none. Its parent must
    /// exist.
    func makeFolder(_ path: String) throws(DeviceFilesFault)

    /// Creates a new file for its owner only, in place of an existing one,
    /// writes it and syncs its contents.
    func write(_ bytes: [UInt8], to path: String) throws(DeviceFilesFault)

    /// Renames a file within its folder. Replaces an existing file.
    func rename(_ path: String, to other: String) throws(DeviceFilesFault)

    /// Makes the names in a folder durable.
    func syncFolder(_ path: String) throws(DeviceFilesFault)
}

/// The system's disk.
struct SystemDisk: DeviceDisk {
    func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    func makeFolder(_ path: String) throws(DeviceFilesFault) {
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
            throw DeviceFilesFault(system: "make the folder \(path)")
        }
    }

    /// Never writes into an existing file: after a crash during a rename, it
    /// may also be the file under the other name.
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
    /// Makes a fault from the system's last error.
    init(system what: String) {
        let number = errno
        self.init(
            "could not \(what): \(String(cString: strerror(number)))", errorNumber: number)
    }
}

/// Methods with these names hide the system's functions.
private func systemRename(_ path: String, _ other: String) -> Int32 { rename(path, other) }

private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    while true {
        let count = write(descriptor, bytes.baseAddress, bytes.count)
        if count >= 0 || errno != EINTR { return count }
    }
}
