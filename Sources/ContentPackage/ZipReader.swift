// SPDX-License-Identifier: Apache-2.0

import Foundation

@_implementationOnly import CArchive

/// Reads a ZIP through libarchive, from its first entry to its last. Nothing
/// but ZIP is enabled, and only with an intact list of entries at its end.
///
/// A class, because it owns a descriptor and libarchive's state. It stays on
/// the thread that made it.
final class ZipReader {
    /// What one call decompresses at most.
    private static let pieceBytes = 128 * 1024

    let packageBytes: Int64
    /// How many entries the list at the end names. Nil if it is not known.
    private let listed: Int?
    private let file: Int32
    private let archive: OpaquePointer
    private let locale: carchive_locale

    init(_ path: String) throws(ContentFault) {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { throw .system(path, "opened") }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(file)
            throw ContentFault(.notAPackage, "\(path) is not a file.")
        }
        do throws(ContentFault) {
            listed = try ZipList(file, bytes: Int64(status.st_size))?.entries
        } catch {
            close(file)
            throw error
        }
        guard let archive = archive_read_new() else {
            close(file)
            throw ContentFault(.file, "There is no memory to read \(path).")
        }
        (self.file, self.archive) = (file, archive)
        packageBytes = Int64(status.st_size)
        locale = carchive_enter_utf8()
        guard archive_read_support_format_zip_seekable(archive) == ARCHIVE_OK,
            archive_read_open_fd(archive, file, Self.pieceBytes) == ARCHIVE_OK
        else { throw Self.notAPackage(path) }
    }

    deinit {
        archive_read_free(archive)
        carchive_leave_utf8(locale)
        close(file)
    }

    private static func notAPackage(_ path: String) -> ContentFault {
        ContentFault(
            .notAPackage,
            "\(path) is not a ZIP, or its end is missing. Pack the folder again, and copy the "
                + "whole file.")
    }

    /// The next entry's header. Nil after the last one.
    func next() throws(ContentFault) -> EntryHead? {
        var found: OpaquePointer?
        let code = archive_read_next_header(archive, &found)
        if code == ARCHIVE_EOF { return nil }
        guard code == ARCHIVE_OK || code == ARCHIVE_WARN, let entry = found else {
            throw ContentFault(
                .notAPackage, "The list of entries at the ZIP's end is damaged. Pack it again.")
        }
        let path = try Self.path(of: entry)
        guard archive_entry_is_encrypted(entry) == 0 else {
            throw ContentFault(
                .encrypted, entry: path, "The entry is encrypted. Pack it without a password.")
        }
        // The headers before the bytes and at the end disagree.
        guard code == ARCHIVE_OK else { throw Self.damaged(path) }
        try checkMethod(path)
        return EntryHead(
            path: path.hasSuffix("/") && carchive_is_folder(entry) != 0
                ? String(path.dropLast()) : path,
            kind: Self.kind(of: entry),
            size: archive_entry_size_is_set(entry) != 0 ? archive_entry_size(entry) : nil)
    }

    /// Throws unless as many entries were read as the list names.
    func checkCount(_ entries: Int) throws(ContentFault) {
        guard let listed, listed != entries else { return }
        throw ContentFault(
            .damaged,
            "The list at the ZIP's end names \(listed) entries, and \(entries) can be read. Pack "
                + "it again.")
    }

    /// Hands out the bytes of the entry that was read last, in pieces.
    func eachPiece(
        of head: EntryHead, _ body: (UnsafeRawBufferPointer) throws(ContentFault) -> Void
    ) throws(ContentFault) {
        let piece = UnsafeMutableRawBufferPointer.allocate(
            byteCount: Self.pieceBytes, alignment: 16)
        defer { piece.deallocate() }
        while true {
            let count = archive_read_data(archive, piece.baseAddress, piece.count)
            if count == 0 { return }
            guard count > 0 else { throw Self.damaged(head.path) }
            try body(UnsafeRawBufferPointer(rebasing: piece[..<count]))
        }
    }

    private static func path(of entry: OpaquePointer) throws(ContentFault) -> String {
        guard let bytes = archive_entry_pathname(entry),
            let path = String(validatingCString: bytes)
        else {
            throw ContentFault(
                .pathInvalid, entry: archive_entry_pathname(entry).map { String(cString: $0) },
                "The name is not UTF-8. Pack it with a program that writes UTF-8.")
        }
        return path
    }

    private static func kind(of entry: OpaquePointer) -> EntryHead.Kind {
        if carchive_is_link(entry) != 0 { return .link }
        if carchive_is_folder(entry) != 0 { return .folder }
        return carchive_is_file(entry) != 0 ? .file : .other
    }

    /// Other methods may ask for gigabytes of memory. libarchive names the
    /// method in the name of the format only; without a known one the entry is
    /// refused.
    private func checkMethod(_ path: String) throws(ContentFault) {
        let name = archive_format_name(archive).map { String(cString: $0) } ?? ""
        guard name.contains("(deflation)") || name.contains("(uncompressed)") else {
            throw ContentFault(
                .methodUnsupported, entry: path,
                "The entry is compressed by another method than deflate. Pack it with deflate.")
        }
    }

    private static func damaged(_ path: String) -> ContentFault {
        ContentFault(
            .damaged, entry: path,
            "The entry's bytes are damaged, or its two headers disagree. Pack it again.")
    }
}
