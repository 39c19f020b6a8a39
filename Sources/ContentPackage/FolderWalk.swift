// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Reads a package that is a folder, its names in the order of their bytes.
struct FolderWalk {
    private static let pieceBytes = 128 * 1024

    let folder: String

    init(_ folder: String) throws(ContentFault) {
        self.folder = folder
        var status = stat()
        guard stat(folder, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            throw ContentFault(.notAPackage, "\(folder) is not a folder.")
        }
    }

    /// Calls `body` for each entry. It is not called for the folder itself, and
    /// what a link leads to is not visited.
    func each(_ body: (EntryHead) throws(ContentFault) -> Void) throws(ContentFault) {
        try each(below: "", body)
    }

    private func each(
        below parent: String, _ body: (EntryHead) throws(ContentFault) -> Void
    ) throws(ContentFault) {
        for name in try names(in: parent) {
            let path = parent.isEmpty ? name : parent + "/" + name
            let head = try head(of: path)
            try body(head)
            if head.kind == .folder { try each(below: path, body) }
        }
    }

    private func names(in parent: String) throws(ContentFault) -> [String] {
        guard let stream = opendir(folder + "/" + parent) else {
            throw .system(parent.isEmpty ? folder : parent, "read")
        }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let bytes = withUnsafeBytes(of: &entry.pointee.d_name) { name in
                Array(name.prefix { $0 != 0 })
            }
            let name = String(decoding: bytes, as: UTF8.self)
            guard name.utf8.elementsEqual(bytes) else {
                throw ContentFault(
                    .pathInvalid,
                    entry: parent.isEmpty ? name : parent + "/" + name,
                    "The name is not UTF-8. Rename the file.")
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    private func head(of path: String) throws(ContentFault) -> EntryHead {
        var status = stat()
        guard lstat(folder + "/" + path, &status) == 0 else { throw .system(path, "read") }
        return switch status.st_mode & S_IFMT {
        case S_IFREG: EntryHead(path: path, kind: .file, size: Int64(status.st_size))
        case S_IFDIR: EntryHead(path: path, kind: .folder, size: nil)
        case S_IFLNK: EntryHead(path: path, kind: .link, size: nil)
        default: EntryHead(path: path, kind: .other, size: nil)
        }
    }

    /// Hands out the bytes of a file, in pieces.
    func eachPiece(
        of head: EntryHead, _ body: (UnsafeRawBufferPointer) throws(ContentFault) -> Void
    ) throws(ContentFault) {
        let file = open(
            folder + "/" + head.path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else { throw .system(head.path, "opened") }
        defer { close(file) }
        let piece = UnsafeMutableRawBufferPointer.allocate(
            byteCount: Self.pieceBytes, alignment: 16)
        defer { piece.deallocate() }
        while true {
            let count = read(file, piece.baseAddress, piece.count)
            if count == 0 { return }
            guard count > 0 else { throw .system(head.path, "read") }
            try body(UnsafeRawBufferPointer(rebasing: piece[..<count]))
        }
    }
}
