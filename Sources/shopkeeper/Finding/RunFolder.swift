// SPDX-License-Identifier: Apache-2.0

import Foundation
import StorageSQLite

/// The folder with the run files of a user's servers. Commands trust these
/// files, and send passwords to the addresses in them. So the folder is used
/// only if no other user can have written to it.
enum RunFolder {
    /// Larger files are not ours.
    private static let bytesMax = 64 * 1024

    /// Creates a folder that only this user can access. Throws if the existing
    /// one is accessible to others.
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

    /// Returns the files of a kind, by name. None if the folder does not belong
    /// to this user.
    static func files(in folder: URL, extension kind: String) -> [URL] {
        guard isOwn(folder) else { return [] }
        let files = try? FileManager.default.contentsOfDirectory(
            at: folder, includingPropertiesForKeys: nil)
        return (files ?? []).filter { $0.pathExtension == kind }.sorted { $0.path < $1.path }
    }

    /// Returns a file's bytes. Nil if it is missing, or others could have
    /// written it.
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
