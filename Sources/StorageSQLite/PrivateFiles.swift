// SPDX-License-Identifier: Apache-2.0

public import Storage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Files that only their owner may read, in folders that only their owner may
/// enter. They are created with these permissions, so they are never open to
/// others, not even briefly.
public enum PrivateFiles {
    /// Creates an empty file of mode 0600 with its folder if there is none.
    /// Removes other users' permissions from an existing file.
    ///
    /// An existing file is not opened: closing it would release the locks that
    /// SQLite holds on it elsewhere in this process.
    public static func makeFile(_ path: String) throws(StorageFault) {
        try makeFolder(folder(of: path))
        let descriptor = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0o600)
        if descriptor >= 0 {
            close(descriptor)
            try syncFolder(folder(of: path))
        } else if errno == EEXIST {
            try restrict(path)
        } else {
            throw failure(path, "cannot be made")
        }
    }

    /// Writes a new file and then moves it to its place. It is created beside
    /// that place with its final mode, and is durable before it gets its name.
    ///
    /// `mode`: 0600 for secrets; 0644 for files that others may read.
    /// `replaces`: if false, an existing file is kept and is a fault.
    public static func store(
        _ bytes: [UInt8], as path: String, mode: UInt32 = 0o600, replaces: Bool = true
    ) throws(StorageFault) {
        let part = path + ".part"
        guard unlink(part) == 0 || errno == ENOENT else { throw failure(part, "is in the way") }
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        let descriptor = open(part, flags, mode_t(mode))
        guard descriptor >= 0 else { throw failure(path, "cannot be made") }
        defer { unlink(part) }
        defer { close(descriptor) }
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw failure(path, "cannot be written") }
            rest = rest.dropFirst(count)
        }
        guard fsync(descriptor) == 0 else { throw failure(path, "cannot be synced") }
        let isPlaced = replaces ? rename(part, path) == 0 : link(part, path) == 0
        guard isPlaced else { throw failure(path, "cannot be put in place") }
        try syncFolder(folder(of: path))
    }

    /// Creates a data directory of mode 0700, or closes an existing one to
    /// other users. Throws ``StorageFault`` `unavailable` if that is impossible
    /// or not allowed. It is not allowed for another user's folder, for one
    /// into which others may have put files, and for one that contains other
    /// things too, such as a home folder or `/tmp`. The owner has to close such
    /// a folder or use another.
    public static func makeOwnFolder(
        _ path: String, holding known: [String]
    ) throws(StorageFault) {
        try makeFolder(path)
        var facts = stat()
        guard stat(path, &facts) == 0 else { throw failure(path, "cannot be looked at") }
        guard facts.st_uid == geteuid() || geteuid() == 0 else {
            throw StorageFault(
                .unavailable,
                "\(path) belongs to another user, who could read every key in it: name a folder "
                    + "of your own, or run as its owner")
        }
        guard facts.st_mode & 0o077 != 0 else { return }
        let names = try names(in: path)
        let isOurs = names.isEmpty || names.contains { known.contains($0) }
        let isWritten = facts.st_mode & 0o022 != 0 && !names.isEmpty
        guard isOurs, !isWritten else {
            throw StorageFault(
                .unavailable,
                "\(path) is open to other users and not empty: look at what is in it, then close "
                    + "it with `chmod 700`, or name a folder that is not there yet")
        }
        guard chmod(path, 0o700) == 0 else {
            throw failure(path, "cannot be kept from others (mode 0700)")
        }
    }

    private static func names(in path: String) throws(StorageFault) -> [String] {
        guard let folder = opendir(path) else { throw failure(path, "cannot be opened") }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    /// Creates a folder of mode 0700, and its missing parents.
    public static func makeFolder(_ path: String) throws(StorageFault) {
        if mkdir(path, 0o700) == 0 { return try syncFolder(folder(of: path)) }
        if errno == ENOENT, folder(of: path) != path {
            try makeFolder(folder(of: path))
            guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
                throw failure(path, "cannot be made")
            }
            return try syncFolder(folder(of: path))
        }
        guard errno == EEXIST else { throw failure(path, "cannot be made") }
        var facts = stat()
        guard stat(path, &facts) == 0, facts.st_mode & S_IFMT == S_IFDIR else {
            throw StorageFault(.unavailable, "\(path) is not a folder; name one")
        }
    }

    /// Makes the names in a folder durable (fsync).
    static func syncFolder(_ path: String) throws(StorageFault) {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(path, "cannot be opened") }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw failure(path, "cannot be synced") }
    }

    /// Removes a file if it exists. Returns when that is durable.
    public static func remove(_ path: String) throws(StorageFault) {
        guard unlink(path) == 0 else {
            if errno == ENOENT { return }
            throw failure(path, "cannot be removed")
        }
        try syncFolder(folder(of: path))
    }

    /// Removes a database and SQLite's files beside it, if they exist.
    public static func removeDatabase(_ path: String) {
        for suffix in ["", "-wal", "-shm", "-journal"] { unlink(path + suffix) }
    }

    private static func restrict(_ path: String) throws(StorageFault) {
        var facts = stat()
        guard stat(path, &facts) == 0 else { throw failure(path, "cannot be looked at") }
        guard facts.st_mode & S_IFMT == S_IFREG else {
            throw StorageFault(.unavailable, "\(path) is not a file; name one")
        }
        guard facts.st_mode & 0o077 != 0 else { return }
        guard chmod(path, 0o600) == 0 else {
            throw failure(path, "cannot be kept from others (mode 0600)")
        }
    }

    static func folder(of path: String) -> String {
        var parts = path[...]
        while parts.count > 1, parts.hasSuffix("/") { parts.removeLast() }
        guard let slash = parts.lastIndex(of: "/") else { return "." }
        return slash == parts.startIndex ? "/" : String(parts[..<slash])
    }

    static func failure(_ path: String, _ what: String) -> StorageFault {
        let reason = String(cString: strerror(errno))
        let code: StorageFault.Code =
            switch errno {
            case ENOSPC, EDQUOT: .full
            case EROFS: .readOnly
            default: .unavailable
            }
        return StorageFault(code, "\(path) \(what): \(reason)")
    }
}
