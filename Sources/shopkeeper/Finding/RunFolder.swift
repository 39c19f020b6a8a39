// SPDX-License-Identifier: Apache-2.0

import Foundation
import StorageSQLite

/// Where running servers leave word for their user's commands. What lies there is
/// believed, passwords are sent to the address that it names, so it counts only
/// where no other user can have written it.
enum RunFolder {
    /// Larger ones are none of ours.
    private static let bytesMax = 64 * 1024

    /// Makes a folder of this user's alone, or refuses the one that is there.
    static func make(_ folder: URL) throws {
        do { try PrivateFiles.makeFolder(folder.path) } catch {}
        guard isOwn(folder) else {
            throw Failure(
                .taken, "runtimeFolderUnsafe",
                "\(folder.path) is not a folder of this user's alone.",
                rule: "owned by the user, mode 0700",
                remedy: "remove it, or set XDG_RUNTIME_DIR to a folder of your own")
        }
    }

    /// The files of a kind, by name; none where the folder is not this user's.
    static func files(in folder: URL, extension kind: String) -> [URL] {
        guard isOwn(folder) else { return [] }
        let files = try? FileManager.default.contentsOfDirectory(
            at: folder, includingPropertiesForKeys: nil)
        return (files ?? []).filter { $0.pathExtension == kind }.sorted { $0.path < $1.path }
    }

    /// A file's bytes; nil where it is missing, or others can have written it.
    static func read(_ file: URL) -> Data? {
        let descriptor = open(file.path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var facts = stat()
        guard fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG,
            facts.st_uid == getuid() || getuid() == 0, facts.st_mode & 0o022 == 0
        else { return nil }
        return try? handle.read(upToCount: bytesMax)
    }

    private static func isOwn(_ folder: URL) -> Bool {
        var facts = stat()
        return lstat(folder.path, &facts) == 0 && facts.st_uid == getuid()
            && facts.st_mode & S_IFMT == S_IFDIR && facts.st_mode & 0o077 == 0
    }
}
