// SPDX-License-Identifier: Apache-2.0

import Foundation

@_implementationOnly import CArchive

/// A folder that appears under its name when everything in it is on the disk.
struct NewFolder {
    private let target: String
    private let partial: String
    private var made: Set<String> = []

    /// `target` must not exist. What an ended process left behind is removed.
    init(_ target: String) throws(ContentFault) {
        self.target = target
        partial = target + ".partial"
        guard !Self.exists(target) else {
            throw ContentFault(
                .targetExists, "\(target) exists already. Choose another folder, or remove it.")
        }
        try? FileManager.default.removeItem(atPath: partial)
        guard mkdir(partial, 0o755) == 0 else { throw .system(target, "written") }
    }

    /// Makes a folder, and those above it.
    mutating func makeFolder(_ path: String) throws(ContentFault) {
        guard !path.isEmpty, !made.contains(path) else { return }
        if let slash = path.lastIndex(of: "/") { try makeFolder(String(path[..<slash])) }
        guard mkdir(partial + "/" + path, 0o755) == 0 else { throw .system(path, "written") }
        made.insert(path)
    }

    /// Makes a file and returns its descriptor, which the caller closes.
    mutating func makeFile(_ path: String) throws(ContentFault) -> Int32 {
        if let slash = path.lastIndex(of: "/") { try makeFolder(String(path[..<slash])) }
        let file = open(
            partial + "/" + path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o644)
        guard file >= 0 else { throw .system(path, "written") }
        return file
    }

    /// Waits until the disk has everything, and gives the folder its name. One
    /// sync of the file system, because a package may have many small files.
    func publish() throws(ContentFault) {
        try Self.sync(partial) { syncfs($0) }
        guard rename(partial, target) == 0 else { throw .system(target, "written") }
        try Self.sync((target as NSString).deletingLastPathComponent) { fsync($0) }
    }

    func discard() {
        try? FileManager.default.removeItem(atPath: partial)
    }

    static func sync(_ path: String, _ sync: (Int32) -> Int32) throws(ContentFault) {
        let folder = open(path.isEmpty ? "." : path, O_RDONLY | O_CLOEXEC)
        guard folder >= 0 else { throw .system(path, "written") }
        defer { close(folder) }
        guard sync(folder) == 0 else { throw .system(path, "written") }
    }

    private static func exists(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0
    }
}

extension ContentFault {
    /// A failed system call.
    static func system(
        _ path: String, _ what: String, _ number: Int32 = errno
    ) -> ContentFault {
        guard number != ENOSPC, number != EDQUOT else {
            return ContentFault(
                .diskFull, "\(path) cannot be \(what), because the disk is full. Free some space.")
        }
        let reason =
            number == 0 ? "of an error without a number" : String(cString: strerror(number))
        return ContentFault(.file, "\(path) cannot be \(what): \(reason).")
    }
}

/// Writes all bytes of a piece.
func writeAll(
    _ piece: UnsafeRawBufferPointer, to file: Int32, _ path: String
) throws(ContentFault) {
    var left = piece
    while !left.isEmpty {
        let count = write(file, left.baseAddress, left.count)
        if count < 0, errno == EINTR { continue }
        guard count >= 0 else { throw .system(path, "written") }
        left = UnsafeRawBufferPointer(rebasing: left[count...])
    }
}
