// SPDX-License-Identifier: Apache-2.0

import Foundation
import Storage
import StorageSQLite
import TestSupport
import Testing

@Suite struct DirectoryLockTests {
    @Test func `one at a time holds a data directory`() throws {
        let folder = try temporaryFolder("lock")
        let path = folder.file("data")
        let first = try DirectoryLock(folder: path)
        do {
            _ = try DirectoryLock(folder: path)
            Issue.record("a second lock was given")
        } catch {
            #expect(error.code == .busy)
            #expect(error.reason.contains("process \(getpid())"))
            #expect(error.reason.contains(path))
        }
        first.release()
        try DirectoryLock(folder: path).release()
    }

    @Test func `the lock ends with its holder`() throws {
        let folder = try temporaryFolder("lock")
        do { _ = try DirectoryLock(folder: folder.path) }
        _ = try DirectoryLock(folder: folder.path)
    }

    @Test func `a folder that is open to others is closed, unless it holds other things`() throws {
        let folder = try temporaryFolder("lock")
        for name in ["empty", "ours", "full", "shared"] {
            #expect(mkdir(folder.file(name), 0o755) == 0)
        }
        for name in ["ours/store.sqlite", "full/picture", "shared/store.sqlite"] {
            close(open(folder.file(name), O_CREAT | O_WRONLY, 0o644))
        }
        // Others may have put the database there.
        chmod(folder.file("shared"), 0o777)

        for name in ["empty", "ours"] {
            try DirectoryLock(folder: folder.file(name)).release()
            #expect(mode(folder.file(name)) == 0o700)
        }
        for name in ["full", "shared"] {
            let before = mode(folder.file(name))
            let fault = #expect(throws: StorageFault.self) {
                try DirectoryLock(folder: folder.file(name))
            }
            #expect(fault?.reason.contains("chmod 700") == true)
            #expect(mode(folder.file(name)) == before)
        }
    }

    @Test func `a lock that is a link is not followed`() throws {
        let folder = try temporaryFolder("link")
        #expect(mkdir(folder.file("ours"), 0o700) == 0)
        #expect(symlink(folder.file("elsewhere"), folder.file("ours/lock")) == 0)

        let fault = #expect(throws: StorageFault.self) {
            try DirectoryLock(folder: folder.file("ours"))
        }

        #expect(fault?.code == .unavailable)
        #expect(access(folder.file("elsewhere"), F_OK) != 0)
    }

    @Test func `a private file follows no link, and replaces nothing unasked`() throws {
        let folder = try temporaryFolder("private")
        let (file, trap) = (folder.file("key"), folder.file("trap"))
        close(open(trap, O_CREAT | O_WRONLY, 0o644))
        for link in [file, file + ".part"] { #expect(symlink(trap, link) == 0) }

        try PrivateFiles.store([1, 2], as: file)
        #expect(throws: StorageFault.self) {
            try PrivateFiles.store([3], as: file, replaces: false)
        }

        #expect(FileManager.default.contents(atPath: file) == Data([1, 2]))
        #expect(FileManager.default.contents(atPath: trap) == Data())
        #expect(mode(file) == 0o600)
        #expect(!FileManager.default.fileExists(atPath: file + ".part"))
    }

    private func mode(_ path: String) -> UInt32? {
        var facts = stat()
        return lstat(path, &facts) == 0 ? UInt32(facts.st_mode) & 0o7777 : nil
    }
}
