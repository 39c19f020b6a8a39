// SPDX-License-Identifier: Apache-2.0

import Foundation
import PurchaseKit
import Synchronization

/// A device's files. Remembers the fault for which the device now waits. A
/// class, because the device and the command share it.
final class WatchedFiles: DeviceFiles {
    private let files: any DeviceFiles
    private let last = Mutex<String?>(nil)

    init(_ files: any DeviceFiles) {
        self.files = files
    }

    /// The last fault. Nil once a change was written after it.
    var fault: String? { last.withLock { $0 } }

    private func watch<Result>(_ body: () throws -> Result) throws -> Result {
        do { return try body() } catch {
            if let fault = error as? DeviceFilesFault {
                last.withLock { $0 = fault.description }
            }
            throw error
        }
    }

    func read(_ name: String) throws -> [UInt8]? { try watch { try files.read(name) } }

    func read(_ name: String, atMost count: Int) throws -> [UInt8]? {
        try watch { try files.read(name, atMost: count) }
    }

    func replace(_ changed: [DeviceFile]) throws { try watch { try files.replace(changed) } }

    func exchange(_ file: DeviceFile) throws { try watch { try files.exchange(file) } }

    func withLock<Result>(_ body: () throws -> Result) throws -> Result {
        let answer = try watch { try files.withLock(body) }
        last.withLock { $0 = nil }
        return answer
    }

    func claim(launch: String) throws { try watch { try files.claim(launch: launch) } }

    func release(launch: String) { files.release(launch: launch) }

    func isClaimed(launch: String) -> Bool { files.isClaimed(launch: launch) }

    func url(of name: String) -> URL? { files.url(of: name) }
}
