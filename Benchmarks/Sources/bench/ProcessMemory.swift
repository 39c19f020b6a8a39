// SPDX-License-Identifier: Apache-2.0

import Foundation

/// What a process holds in memory, in bytes.
struct ProcessMemory {
    let resident: Int
    /// The most since the process began, or since ``resetPeak()``.
    let peak: Int

    /// `process`: its number, or `self`.
    init(_ process: String) throws {
        let text = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        func figure(_ name: String) -> Int {
            let line = text.split(separator: "\n").first { $0.hasPrefix(name) } ?? ""
            return (Int(line.filter(\.isNumber)) ?? 0) * 1024
        }
        (resident, peak) = (figure("VmRSS:"), figure("VmHWM:"))
    }

    /// Sets this process's peak to what it holds now.
    static func resetPeak() throws {
        try "5".write(toFile: "/proc/self/clear_refs", atomically: false, encoding: .utf8)
    }
}
