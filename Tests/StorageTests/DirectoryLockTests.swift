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
}
