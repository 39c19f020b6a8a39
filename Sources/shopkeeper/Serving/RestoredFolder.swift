// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation
import Storage
import StorageSQLite
import Synchronization

/// A data directory into which a backup is restored.
///
/// A file marks an unused directory as soon as the restore has locked it, until
/// the database has a mark of its own. So nothing that a killed restore leaves
/// is served as a new, empty store. After a refusal, the directory is as it was
/// found. A class, because the places of the databases change its state.
final class RestoredFolder: Sendable {
    /// The name of the file.
    static let mark = "restore.unfinished"

    /// What a served store or ledger has in its directory.
    private static let used: Set = [
        "store.sqlite", "ledger.sqlite", "seal.key", "keys", "run.json",
    ]
    private static let databases: Set = ["store.sqlite", "ledger.sqlite"]
    /// What a restore makes. The mark goes last but for the lock.
    private static let made = [
        "store.sqlite", "store.sqlite-wal", "store.sqlite-shm", "ledger.sqlite",
        "ledger.sqlite-wal", "ledger.sqlite-shm", "realms", "keys", "seal.key", mark,
        DirectoryLock.file,
    ]

    private let path: String
    /// The missing folders of the path, the outermost last.
    private let missing: [String]
    /// What was in the directory.
    private let found: Set<String>
    private let state = Mutex<State>(.begun)

    private enum State {
        /// Nothing was written to a database.
        case begun
        /// The database has the mark.
        case inDatabase
        /// The database is as it was before.
        case refused
    }

    /// Looks at the directory, before it is locked.
    init(path: String) {
        self.path = path
        found = Set(Self.names(path))
        var missing: [String] = []
        var parent = URL(fileURLWithPath: path)
        while parent.path != "/", !FileManager.default.fileExists(atPath: parent.path) {
            missing.append(parent.path)
            parent.deleteLastPathComponent()
        }
        self.missing = missing
    }

    /// Throws a fault if a restore into the directory was begun and not
    /// finished, as far as the mark shows. Where there is a database too, a
    /// restore decides: it deletes none that is complete.
    static func check(_ path: String) throws(StorageFault) {
        try checkMark(path)
        let mark = path + "/" + mark
        guard FileManager.default.fileExists(atPath: mark) else { return }
        let database = databases.sorted().first {
            FileManager.default.fileExists(atPath: "\(path)/\($0)")
        }
        guard let database else {
            throw StorageFault(
                .halfRestored,
                "a restore into \(path) was begun and not finished (\(mark)); restore the archive "
                    + "again, which starts from the beginning")
        }
        throw StorageFault(
            .halfRestored,
            "there is a mark of an unfinished restore (\(mark)) beside \(database). Restore an "
                + "archive again: what is unfinished begins anew; a complete database is left as "
                + "it is, the restore is refused (targetNotEmpty), and the mark is removed")
    }

    /// Throws a fault if something that is not a file has the mark's name, such
    /// as a folder. A restore could neither begin nor remove it.
    private static func checkMark(_ path: String) throws(StorageFault) {
        let mark = path + "/" + mark
        let attributes = try? FileManager.default.attributesOfItem(atPath: mark)
        guard let type = attributes?[.type] as? FileAttributeType, type != .typeRegular else {
            return
        }
        throw StorageFault(
            .unavailable, "\(mark) is not a file, so no restore has made it: remove it")
    }

    /// Writes the mark, once the directory is locked. A directory that was used
    /// gets none: its database shows what it is.
    func begin() throws(StorageFault) {
        try Self.checkMark(path)
        guard found.isDisjoint(with: Self.used) else { return }
        try PrivateFiles.makeFile(path + "/" + Self.mark)
    }

    /// Calls `open`, which opens the database and gives a new one the mark.
    func opening<Answer>(_ open: () async throws -> Answer) async throws -> Answer {
        let answer = try await open()
        // The mark of an earlier restore stays until this one is complete.
        if !found.contains(Self.mark) { try PrivateFiles.remove(path + "/" + Self.mark) }
        state.withLock { $0 = .inDatabase }
        return answer
    }

    /// Passes on the result of a restore, and records a refusal.
    func restoring<Answer>(_ body: () async throws -> Answer) async throws -> Answer {
        do {
            let answer = try await body()
            try PrivateFiles.remove(path + "/" + Self.mark)
            return answer
        } catch {
            if let fault = error as? ArchiveFault {
                state.withLock { $0 = .refused }
                // There is a complete store here, whatever the mark says.
                if fault.code == .targetNotEmpty, !found.isDisjoint(with: Self.databases) {
                    try PrivateFiles.remove(path + "/" + Self.mark)
                }
            }
            throw error
        }
    }

    /// Removes what the restore made, if it was refused or never reached a
    /// database. The lock must still be held, and the databases must be closed.
    func tidy() {
        guard state.withLock({ $0 }) != .inDatabase, !found.contains(Self.mark) else { return }
        for name in Self.made where !found.contains(name) {
            try? FileManager.default.removeItem(atPath: path + "/" + name)
        }
        for folder in missing { guard rmdir(folder) == 0 else { return } }
    }

    private static func names(_ path: String) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    }
}
