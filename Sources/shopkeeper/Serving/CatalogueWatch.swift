// SPDX-License-Identifier: Apache-2.0

import CatalogueFile
import CatalogueOverlay
import Foundation
import StoreWire

/// Checks regularly whether the served file has changed, and imports it. It
/// polls the file's state, because this works on every file system and
/// notifications of changes do not. A file that cannot be read is reported
/// once, and the store continues with what it has.
struct CatalogueWatch: Sendable {
    static let interval = Duration.seconds(1)

    let path: String
    var sleep: @Sendable (Duration) async throws -> Void
    /// Imports the file and returns the differences.
    var apply: @Sendable (CatalogueFile, CatalogueOverlay?) async throws -> [String]
    var tell: @Sendable (String) -> Void

    /// Runs until it is cancelled.
    func run(from first: CatalogueState) async {
        var known = first
        while !Task.isCancelled {
            do { try await sleep(Self.interval) } catch { return }
            known = await look(known)
        }
    }

    /// Checks once. Returns the state that was handled.
    func look(_ known: CatalogueState) async -> CatalogueState {
        let state = CatalogueState(of: path)
        guard state != known else { return known }
        do {
            let file = try CatalogueFile(contentsOf: path)
            let overlay = try CatalogueOverlay.beside(path)
            // The file was written in the meantime. The next check reads it
            // completely.
            guard CatalogueState(of: path) == state else { return known }
            let lines = try await apply(file, overlay)
            for warning in file.warnings + file.unobeyed { tell("warning: \(warning)") }
            for line in lines { tell(line) }
            tell("\(path): read again, \(lines.count) differences")
        } catch {
            let failure = error as? Failure ?? Failure(unexpected: error)
            tell("\(path): not imported, the store is unchanged: \(failure.error.message)")
        }
        return state
    }
}

/// The state of a file or package, which shows changes without reading the
/// contents.
struct CatalogueState: Hashable, Sendable {
    private struct Mark: Hashable, Sendable {
        let name: String
        let inode: UInt64
        let size: Int64
        let seconds: Int
        let nanoseconds: Int
    }

    private let marks: [Mark]

    /// The state of the file, or of all files of a package, and of the overlay
    /// beside it. A missing file has a state too.
    init(of path: String) {
        let assets = (try? FileManager.default.contentsOfDirectory(atPath: path + "/Assets")) ?? []
        let names =
            ["", CatalogueOverlay.suffix, "/Configuration.storekit"]
            + assets.sorted().map { "/Assets/" + $0 }
        marks = names.compactMap { name in
            var status = stat()
            guard stat(path + name, &status) == 0 else { return nil }
            return Mark(
                name: name, inode: UInt64(status.st_ino), size: Int64(status.st_size),
                seconds: status.st_mtim.tv_sec, nanoseconds: status.st_mtim.tv_nsec)
        }
    }
}
