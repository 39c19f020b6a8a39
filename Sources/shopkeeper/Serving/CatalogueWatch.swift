// SPDX-License-Identifier: Apache-2.0

import CatalogueFile
import CatalogueOverlay
import Foundation
import StoreWire

/// Looks now and then whether the served file has changed, and sells what it
/// says. Asking for its state works on every file system, where being told
/// of changes does not. A file that cannot be read is told of once, and the
/// store goes on with what it has.
struct CatalogueWatch: Sendable {
    static let interval = Duration.seconds(1)

    let path: String
    var sleep: @Sendable (Duration) async throws -> Void
    /// Sells what the file says, and answers what is different now.
    var apply: @Sendable (CatalogueFile, CatalogueOverlay?) async throws -> [String]
    var tell: @Sendable (String) -> Void

    /// Ends when it is cancelled.
    func run(from first: CatalogueState) async {
        var known = first
        while !Task.isCancelled {
            do { try await sleep(Self.interval) } catch { return }
            known = await look(known)
        }
    }

    /// Looks once, and answers the state that is dealt with.
    func look(_ known: CatalogueState) async -> CatalogueState {
        let state = CatalogueState(of: path)
        guard state != known else { return known }
        do {
            let file = try CatalogueFile(contentsOf: path)
            let overlay = try CatalogueOverlay.beside(path)
            // Written meanwhile: the next look reads it whole.
            guard CatalogueState(of: path) == state else { return known }
            let lines = try await apply(file, overlay)
            for warning in file.warnings + file.unobeyed { tell("warning: \(warning)") }
            for line in lines { tell(line) }
            tell("\(path): read again, \(lines.count) differences")
        } catch {
            let failure = error as? Failure ?? Failure(unexpected: error)
            tell("\(path): not taken, the store goes on as it was: \(failure.error.message)")
        }
        return state
    }
}

/// What tells one state of a file or package from another, without reading it.
struct CatalogueState: Hashable, Sendable {
    private struct Mark: Hashable, Sendable {
        let name: String
        let inode: UInt64
        let size: Int64
        let seconds: Int
        let nanoseconds: Int
    }

    private let marks: [Mark]

    /// Of the file, or of all that a package holds, and of the overlay beside
    /// it; of one that is missing too.
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
