// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The copy of a database that a backup reads, beside the backup's own file:
/// `FILE.PID.copy`. A backup removes it at its end. It also removes the copies
/// that killed backups have left in the folder.
enum BackupCopy {
    /// Removes the copies of ended processes, and returns a path for this
    /// process's copy.
    static func place(beside path: String) -> String {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        removeLeft(in: folder)
        return "\(path).\(getpid()).copy"
    }

    private static func removeLeft(in folder: String) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        for name in names {
            guard let owner = owner(of: name), !isRunning(owner), isDatabase("\(folder)/\(name)")
            else { continue }
            for suffix in ["", "-journal", "-wal", "-shm"] {
                try? FileManager.default.removeItem(atPath: "\(folder)/\(name)\(suffix)")
            }
        }
    }

    /// The process id in the name of a copy. Nil for other files.
    private static func owner(of name: String) -> pid_t? {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count > 2, parts.last == "copy", let pid = pid_t(parts[parts.count - 2]),
            pid > 0
        else { return nil }
        return pid
    }

    private static func isRunning(_ pid: pid_t) -> Bool { kill(pid, 0) == 0 || errno != ESRCH }

    /// An interrupted copy may be empty.
    private static func isDatabase(_ path: String) -> Bool {
        guard let handle = FileHandle(forReadingAtPath: path) else { return false }
        defer { try? handle.close() }
        let start = (try? handle.read(upToCount: 16)) ?? Data()
        return start.isEmpty || start == Data("SQLite format 3\0".utf8)
    }
}
