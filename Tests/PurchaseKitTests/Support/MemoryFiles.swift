// SPDX-License-Identifier: Apache-2.0

import Foundation
import PurchaseKit
import Synchronization

/// A device folder in memory: what one device wrote, the next one finds.
final class MemoryFiles: DeviceFiles {
    struct State {
        var files: [String: [UInt8]] = [:]
        var claims: Set<String> = []
        var replacements = 0
        var failures: (@Sendable (Int) -> Bool)?
        /// Writes that fail once the new bytes are in place, by number, and how
        /// many reads fail after each.
        var lateFailures: [Int: Int] = [:]
        var failingReads = 0
        /// Writes of files whose names begin so fail.
        var unwritable: String?
        /// Reads of files whose names begin so fail.
        var unreadable: String?
    }

    let state = Mutex(State())
    private let lock = NSLock()

    var text: String {
        state.withLock { String(decoding: $0.files["queue.json"] ?? [], as: UTF8.self) }
    }

    var replacements: Int { state.withLock { $0.replacements } }

    /// Writes fail, by number, the first being 1.
    func fail(when fails: (@Sendable (Int) -> Bool)?) {
        state.withLock { $0.failures = fails }
    }

    /// The write with this number fails when it is done, and the reads after it too.
    func fail(after number: Int, andReads reads: Int) {
        state.withLock { $0.lateFailures[number] = reads }
    }

    func read(_ name: String) throws -> [UInt8]? {
        try state.withLock { state in
            if state.failingReads > 0 {
                state.failingReads -= 1
                throw DeviceFilesFault("the disk does not answer", errorNumber: EIO)
            }
            if let prefix = state.unreadable, name.hasPrefix(prefix) {
                throw DeviceFilesFault("the disk does not answer", errorNumber: EIO)
            }
            return state.files[name]
        }
    }

    func replace(_ files: [DeviceFile]) throws {
        try state.withLock { state in
            state.replacements += 1
            let isUnwritable = state.unwritable.map { start in
                files.contains { $0.name.hasPrefix(start) }
            }
            if isUnwritable == true || state.failures?(state.replacements) == true {
                throw DeviceFilesFault("the disk is full", errorNumber: ENOSPC)
            }
            for file in files { state.files[file.name] = file.bytes }
            if let reads = state.lateFailures[state.replacements] {
                state.failingReads = reads
                throw DeviceFilesFault("the disk failed", errorNumber: EIO)
            }
        }
    }

    func withLock<Result>(_ body: () throws -> Result) throws -> Result {
        try lock.withLock { try body() }
    }

    func claim(launch: String) throws { state.withLock { _ = $0.claims.insert(launch) } }
    func release(launch: String) { state.withLock { _ = $0.claims.remove(launch) } }
    func isClaimed(launch: String) -> Bool { state.withLock { $0.claims.contains(launch) } }
    func url(of name: String) -> URL? { URL(fileURLWithPath: "/memory/\(name)") }
}
