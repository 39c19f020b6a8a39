// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The file that an archive is written to before it has its name: `PATH.PID.part`.
/// It holds private keys. Its writer holds a lock on it, which ends with the
/// process, so that the next archive in the folder can remove what was left.
enum ArchivePart {
    static func name(of path: String) -> String { "\(path).\(getpid()).part" }

    /// Creates the file, mode 0600, and locks it. Returns its descriptor;
    /// negative with `errno` where it cannot be created.
    static func create(_ path: String) -> Int32 {
        while true {
            unlink(path)
            let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { return descriptor }
            // Some file systems have no locks: there nothing is removed either.
            _ = flock(descriptor, LOCK_EX | LOCK_NB)
            var facts = stat()
            // Another process may have removed it before it was locked.
            if fstat(descriptor, &facts) == 0, facts.st_nlink > 0 { return descriptor }
            close(descriptor)
        }
    }

    /// Removes what processes that have ended left in a folder.
    static func removeLeft(in folder: String) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        for name in names where isPart(name) {
            let path = "\(folder)/\(name)"
            let descriptor = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
            guard descriptor >= 0 else { continue }
            defer { close(descriptor) }
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0, isArchive(descriptor) { unlink(path) }
        }
    }

    private static func isPart(_ name: String) -> Bool {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count > 2 && parts.last == "part" && pid_t(parts[parts.count - 2]) != nil
    }

    /// Whether the first line is an archive's: other programs' files stay.
    private static func isArchive(_ descriptor: Int32) -> Bool {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        guard count > 0 else { return false }
        let line = bytes[..<count].prefix { $0 != 0x0A }
        let header = try? JSONDecoder().decode(ArchiveHeader.self, from: Data(line))
        return header?.format == ArchiveHeader.format
    }
}
