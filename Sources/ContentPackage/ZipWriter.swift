// SPDX-License-Identifier: Apache-2.0

import Foundation

@_implementationOnly import CArchive

/// Writes a ZIP through libarchive: names in UTF-8, without times, owners or
/// permissions, so that the same files give the same bytes.
///
/// A class, because it owns a descriptor and libarchive's state. It stays on
/// the thread that made it.
final class ZipWriter {
    private let file: Int32
    private let path: String
    private let archive: OpaquePointer
    private let locale: carchive_locale

    /// Creates the file, or empties it.
    init(_ path: String) throws(ContentFault) {
        self.path = path
        file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o644)
        guard file >= 0 else { throw .system(path, "written") }
        guard let archive = archive_write_new() else {
            close(file)
            throw ContentFault(.file, "There is no memory to write \(path).")
        }
        self.archive = archive
        locale = carchive_enter_utf8()
        guard archive_write_set_format_zip(archive) == ARCHIVE_OK,
            archive_write_set_options(archive, "zip:hdrcharset=UTF-8") == ARCHIVE_OK,
            archive_write_set_bytes_in_last_block(archive, 1) == ARCHIVE_OK,
            archive_write_open_fd(archive, file) == ARCHIVE_OK
        else { throw Self.failed(path, archive) }
    }

    deinit {
        archive_write_free(archive)
        carchive_leave_utf8(locale)
        close(file)
    }

    func begin(_ head: EntryHead) throws(ContentFault) {
        guard let entry = archive_entry_new() else {
            throw ContentFault(.file, "There is no memory to write \(path).")
        }
        defer { archive_entry_free(entry) }
        archive_entry_set_pathname(entry, head.path)
        carchive_set_file(entry)
        archive_entry_set_perm(entry, 0o644)
        archive_entry_set_size(entry, head.size ?? 0)
        guard archive_write_header(archive, entry) == ARCHIVE_OK else {
            throw Self.failed(path, archive)
        }
    }

    func write(_ piece: UnsafeRawBufferPointer) throws(ContentFault) {
        guard archive_write_data(archive, piece.baseAddress, piece.count) == piece.count else {
            throw Self.failed(path, archive)
        }
    }

    /// Writes the list at the end, and waits until the disk has all bytes.
    func finish() throws(ContentFault) {
        guard archive_write_close(archive) == ARCHIVE_OK else { throw Self.failed(path, archive) }
        guard fsync(file) == 0 else { throw .system(path, "written") }
    }

    private static func failed(_ path: String, _ archive: OpaquePointer) -> ContentFault {
        .system(path, "written", archive_errno(archive))
    }
}
