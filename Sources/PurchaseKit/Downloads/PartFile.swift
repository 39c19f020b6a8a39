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

    /// Writes like `pwrite`, so that tests can use a disk that is full.
    typealias Writing = @Sendable (Int32, UnsafeRawPointer?, Int, off_t) -> Int

    let path: String
    private let file: Int32
    private let writing: Writing
    private let state: Mutex<State>

    private struct State {
        var total: Int64
        var synced: Int64 = 0
        var fault: DeviceFilesFault?
        /// Up to where a sync is running or has been.
        var syncing: Int64 = 0
        var isSyncing = false
        /// Counts truncations. A sync that began before one says nothing of later bytes.
        var turn = 0
    }

    /// Nil if another process, or an earlier launch, still writes it.
    init?(
        _ path: String, writing: @escaping Writing = { pwrite($0, $1, $2, $3) }
    ) throws(DeviceFilesFault) {
        self.path = path
        self.writing = writing
        file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw DeviceFilesFault(system: "open \(path)") }
        var facts = stat()
        guard fstat(file, &facts) == 0 else {
            let fault = DeviceFilesFault(system: "read \(path)")
            close(file)
            throw fault
        }
        state = Mutex(State(total: Int64(facts.st_size)))
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
                let count = writing(file, left.baseAddress, left.count, off_t(state.total))
                if count < 0, errno == EINTR { continue }
                guard count > 0 else {
                    state.fault = DeviceFilesFault(system: "write \(path)")
                    return false
                }
                state.total += Int64(count)
                left = UnsafeRawBufferPointer(rebasing: left[count...])
            }
            beginSync(&state)
            return true
        }
    }

    /// Syncs beside the transfer, which does not wait for the disk.
    private func beginSync(_ state: inout State) {
        guard !state.isSyncing, state.total - state.syncing >= Self.syncEvery else { return }
        state.isSyncing = true
        state.syncing = state.total
        let (total, turn) = (state.total, state.turn)
        DispatchQueue.global(qos: .utility).async { [self] in
            let isSynced = fsync(file) == 0
            self.state.withLock { state in
                state.isSyncing = false
                guard isSynced, state.turn == turn else { return }
                state.synced = max(state.synced, total)
            }
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
            state.syncing = state.synced
            state.turn += 1
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
