// SPDX-License-Identifier: Apache-2.0

import Foundation
import SignedData

/// Notes which lines of a file are done, beside the file: a digest, then the number of each
/// line. A line that is not noted is tried again. A changed file begins again, and so does one
/// that is imported otherwise, such as into another ledger.
struct ImportProgress {
    private let url: URL
    private let digest: String
    private var done: Set<Int> = []
    /// Open once something was noted.
    private var file: FileHandle?

    /// `way`: into which ledger the file is imported, and how.
    init(path: String, _ data: Data, way: [String]) {
        url = URL(fileURLWithPath: path)
        digest = CertificateAuthority.fingerprint(
            of: Array(way.joined(separator: "\n").utf8) + [0] + Array(data))
        guard let known = FileManager.default.contents(atPath: path),
            let text = String(data: known, encoding: .utf8)
        else { return }
        var words = text.split(separator: "\n", omittingEmptySubsequences: false)
        // The last one was not written to its end, or is empty.
        words.removeLast()
        if words.first == digest[...] { done = Set(words.dropFirst().compactMap { Int($0) }) }
    }

    var count: Int { done.count }

    func isDone(_ line: Int) -> Bool { done.contains(line) }

    /// Writes one line more. The first time it writes the whole file anew, without the rest
    /// of a line that an earlier process could not finish.
    mutating func note(_ line: Int) throws {
        done.insert(line)
        if let file { return try file.write(contentsOf: Data("\(line)\n".utf8)) }
        let lines = [digest] + done.sorted().map(String.init)
        try Data(lines.map { $0 + "\n" }.joined().utf8).write(to: url, options: .atomic)
        file = try FileHandle(forWritingTo: url)
        try file?.seekToEnd()
    }

    func remove() { try? FileManager.default.removeItem(at: url) }
}
