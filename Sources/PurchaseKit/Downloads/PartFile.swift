// SPDX-License-Identifier: Apache-2.0

import Commerce
import Crypto
import Foundation
import Synchronization

/// The bytes of a download that have arrived. Locked while it is open, so that of
/// several processes only one writes it; the lock ends with its process.
///
/// A class, because it owns a descriptor, and a transfer's thread shares it with
/// the device.
final class PartFile: Sendable {
    private static let pieceBytes = 256 * 1024
    /// How many bytes a power failure may take.
    static let syncEvery: Int64 = 8 << 20

    let path: String
    private let file: Int32
    private let state: Mutex<(total: Int64, synced: Int64, fault: DeviceFilesFault?)>

    /// Nil if another process, or an earlier launch, still writes it.
    init?(_ path: String) throws(DeviceFilesFault) {
        self.path = path
        file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw DeviceFilesFault(system: "open \(path)") }
        var facts = stat()
        guard fstat(file, &facts) == 0 else {
            let fault = DeviceFilesFault(system: "read \(path)")
            close(file)
            throw fault
        }
        state = Mutex((Int64(facts.st_size), 0, nil))
        guard flock(file, LOCK_EX | LOCK_NB) == 0 else { return nil }
    }

    deinit { close(file) }

    /// How many bytes it has.
    var total: Int64 { state.withLock { $0.total } }
    /// How many of them are on the disk for certain. 0 before the first sync.
    var synced: Int64 { state.withLock { $0.synced } }
    /// Why a write failed.
    var fault: DeviceFilesFault? { state.withLock { $0.fault } }

    /// Appends bytes. Returns false if the disk rejects them.
    func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
        state.withLock { state in
            var left = bytes
            while !left.isEmpty {
                let count = pwrite(file, left.baseAddress, left.count, off_t(state.total))
                if count < 0, errno == EINTR { continue }
                guard count > 0 else {
                    state.fault = DeviceFilesFault(system: "write \(path)")
                    return false
                }
                state.total += Int64(count)
                left = UnsafeRawBufferPointer(rebasing: left[count...])
            }
            if state.total - state.synced >= Self.syncEvery, fsync(file) == 0 {
                state.synced = state.total
            }
            return true
        }
    }

    func truncate(to count: Int64) throws(DeviceFilesFault) {
        let fault: DeviceFilesFault? = state.withLock { state in
            state.fault = nil
            guard count < state.total else { return nil }
            guard ftruncate(file, off_t(count)) == 0 else {
                return DeviceFilesFault(system: "shorten \(path)")
            }
            state.total = count
            state.synced = min(state.synced, count)
            return nil
        }
        if let fault { throw fault }
    }

    /// Waits until the disk has all bytes, and returns their number.
    func sync() -> Int64 {
        state.withLock { state in
            if fsync(file) == 0 { state.synced = state.total }
            return state.synced
        }
    }

    /// The digest of what is in the file, in hexadecimal digits. Blocks.
    func sha256() throws(DeviceFilesFault) -> String {
        var digest = SHA256()
        let piece = UnsafeMutableRawBufferPointer.allocate(
            byteCount: Self.pieceBytes, alignment: 16)
        defer { piece.deallocate() }
        var place: off_t = 0
        while true {
            let count = pread(file, piece.baseAddress, piece.count, place)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw DeviceFilesFault(system: "read \(path)") }
            if count == 0 { break }
            digest.update(bufferPointer: UnsafeRawBufferPointer(rebasing: piece[..<count]))
            place += off_t(count)
        }
        return hexadecimal(digest.finalize())
    }
}
