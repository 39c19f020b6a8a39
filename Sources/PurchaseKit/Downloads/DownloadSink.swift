// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Writes a transfer's bytes. A class, because the transfer's thread shares it with
/// the device.
final class DownloadSink: ContentSink {
    private let file: PartFile
    private let length: Int64
    private let from: Int64
    private let place = Mutex<Int64?>(nil)

    init(_ file: PartFile, length: Int64, from: Int64) {
        self.file = file
        self.length = length
        self.from = from
    }

    /// Where the answer's bytes begin. Nil before an answer, and after the first
    /// call that returned it.
    func takePlace() -> Int64? {
        place.withLock { place in
            defer { place = nil }
            return place
        }
    }

    /// A server without ranges begins at 0. Bytes that would leave a gap are not
    /// taken.
    func begin(at offset: Int64) -> Bool {
        guard offset >= 0, offset <= file.total else { return false }
        do throws(DeviceFilesFault) { try file.truncate(to: offset) } catch { return false }
        place.withLock { $0 = offset }
        return true
    }

    func take(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let left = max(length - file.total, 0)
        guard Int64(bytes.count) > left else { return file.append(bytes) }
        // More than the content has. The digest decides.
        _ = file.append(UnsafeRawBufferPointer(rebasing: bytes[..<Int(left)]))
        return false
    }
}
