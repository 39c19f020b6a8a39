// SPDX-License-Identifier: Apache-2.0

import Storage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Files that only their owner may read, in folders that only he may enter.
enum PrivateFiles {
    /// Makes an empty file of mode 0600 where there is none, with its folder;
    /// takes from an existing one what others may do with it.
    ///
    /// An existing file is not opened: closing it would release the locks
    /// that SQLite holds on it elsewhere in this process.
    static func makeFile(_ path: String) throws(StorageFault) {
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

    /// Makes a folder of mode 0700 and those above it, where there are none.
    static func makeFolder(_ path: String) throws(StorageFault) {
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

    /// Makes the names in a folder durable.
    static func syncFolder(_ path: String) throws(StorageFault) {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(path, "cannot be opened") }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw failure(path, "cannot be synced") }
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
