// SPDX-License-Identifier: Apache-2.0

import CatalogueFile
import Foundation

/// What a process holds that reads one catalogue file and nothing else. In
/// the bench's own process the memory that earlier measurements gave back
/// would be used again, and nothing would seem to be needed.
struct ReadingProcess {
    /// Bytes resident while the file is held.
    let held: Int
    /// The most that was resident, from the process's start on.
    let peak: Int

    /// Reads a file in a process of its own: `bench read FILE`.
    init(reading path: String, products: Int) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = ["read", path]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let said = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        let numbers = String(decoding: said, as: UTF8.self).split(whereSeparator: \.isWhitespace)
            .compactMap { Int($0) }
        guard process.terminationStatus == 0, numbers.count == 3, numbers[2] == products else {
            throw ClientFailure("the process that reads \(path) did not tell what it holds")
        }
        (held, peak) = (numbers[0], numbers[1])
    }

    /// The process itself: prints what it holds, held at most, and how many
    /// products it read.
    static func read(_ path: String) throws {
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        let file = try CatalogueFile(json: bytes, name: "bench.storekit")
        // Held whole until it was measured, whatever the optimizer would let go.
        try withExtendedLifetime((bytes, file)) {
            let memory = try ProcessMemory("self")
            print(memory.resident, memory.peak, file.catalogue.products.count)
        }
    }
}
