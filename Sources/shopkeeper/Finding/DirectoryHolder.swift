// SPDX-License-Identifier: Apache-2.0

import Foundation
import StorageSQLite

/// The process that serves a data directory, confirmed by the directory's lock.
///
/// A run file only claims a process. Its id may belong to another program by
/// now, or may never have been the store's. So a process counts as the server
/// only while the kernel reports that it holds the lock, or has the lock's file
/// open.
struct DirectoryHolder: Sendable {
    let pid: Int32
    /// When it started, in the kernel's ticks, which distinguishes it from a
    /// later process with the same id. Nil if there is no `/proc`.
    private let started: String?

    /// Nil if this process does not hold the lock of the directory.
    init?(of data: String, claimed pid: Int32) {
        // 0 and negative numbers denote process groups, and 1 is the init
        // process.
        guard pid > 1, let lock = FileMark(data + "/" + DirectoryLock.file, follows: false)
        else { return nil }
        guard Self.isHolder(pid, lock, path: data + "/" + DirectoryLock.file) else { return nil }
        self.pid = pid
        started = Self.facts(of: pid)?.started
    }

    /// Whether it is still the process that held the lock. An ended process
    /// that its parent has not collected does not count as running.
    var isRunning: Bool {
        guard let started else { return kill(pid, 0) == 0 }
        guard let facts = Self.facts(of: pid) else { return false }
        return facts.started == started && facts.state != "Z" && facts.state != "X"
    }

    /// Whether it started this command: then it is the `exec` of this store.
    var isAncestor: Bool {
        var next = getppid()
        // A limit, in case the ids form a circle while processes end.
        for _ in 0..<1000 where next > 1 {
            if next == pid { return true }
            guard let parent = Self.facts(of: next)?.parent else { return false }
            next = parent
        }
        return false
    }

    /// Sends SIGTERM.
    func terminate() { kill(pid, SIGTERM) }

    private static func isHolder(_ pid: Int32, _ lock: FileMark, path: String) -> Bool {
        #if os(Linux)
            if let locks = try? String(contentsOfFile: "/proc/locks", encoding: .utf8),
                locks.split(separator: "\n").contains(where: { lock.isNamed($0, by: pid) })
            {
                return true
            }
            let folder = "/proc/\(pid)/fd"
            let open = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
            return open.contains { FileMark("\(folder)/\($0)", follows: true) == lock }
        #else
            let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
            return Int32(text.prefix { $0 != "\n" }) == pid && kill(pid, 0) == 0
        #endif
    }

    /// Reads the kernel's facts about a process from `/proc/PID/stat`. The
    /// second field is its name, which may contain spaces and parentheses.
    private static func facts(of pid: Int32) -> (state: String, parent: Int32, started: String)? {
        guard let text = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8),
            let name = text.lastIndex(of: ")")
        else { return nil }
        let fields = text[name...].split(separator: " ").dropFirst().map(String.init)
        guard fields.count > 19, let parent = Int32(fields[1]) else { return nil }
        return (fields[0], parent, fields[19])
    }
}

/// Identifies the file at a path.
private struct FileMark: Equatable {
    private let device: UInt64
    private let inode: UInt64

    init?(_ path: String, follows: Bool) {
        var facts = stat()
        guard (follows ? stat(path, &facts) : lstat(path, &facts)) == 0,
            facts.st_mode & S_IFMT == S_IFREG
        else { return nil }
        (device, inode) = (UInt64(facts.st_dev), UInt64(facts.st_ino))
    }

    /// Whether a line of `/proc/locks` reports that the process holds a lock on
    /// the file: `1: FLOCK  ADVISORY  WRITE 3767 fe:00:5384374 0 EOF`. A
    /// waiting lock has `->` after the number.
    func isNamed(_ line: Substring, by pid: Int32) -> Bool {
        let words = line.split(separator: " ")
        guard words.count >= 6, words[1] != "->", Int32(words[4]) == pid else { return false }
        return words[5].split(separator: ":").last.flatMap { UInt64($0) } == inode
    }
}
