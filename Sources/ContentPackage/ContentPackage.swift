// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The files of a product that the store hosts: a folder, or a ZIP of it, with
/// `ContentInfo.plist` and `Contents/`.
///
/// Every function reads a package as hostile input. It names the first entry
/// that breaks a rule, and leaves nothing behind then.
public enum ContentPackage {
    /// Gets the number of unpacked bytes from time to time. `false` ends the
    /// work with the code `cancelled`.
    public typealias Progress = (_ unpackedBytes: Int64) -> Bool

    /// Reads a whole ZIP once, without writing anything.
    public static func check(
        zip path: String, limits: ContentLimits = .standard, progress: Progress = { _ in true }
    ) throws(ContentFault) -> ContentSummary {
        let reader = try ZipReader(path)
        var rules = EntryRules(limits, packageBytes: reader.packageBytes)
        while let head = try reader.next() {
            try rules.admit(head)
            var info: [UInt8] = []
            try reader.eachPiece(of: head) { piece throws(ContentFault) in
                try rules.take(piece, of: head, keeping: &info, progress)
            }
            try rules.end(head, info)
        }
        try reader.checkCount(rules.entries)
        return try rules.summary()
    }

    /// Reads a whole folder once, without writing anything.
    public static func check(
        folder path: String, limits: ContentLimits = .standard,
        progress: Progress = { _ in true }
    ) throws(ContentFault) -> ContentSummary {
        try walk(path, limits, progress, to: nil)
    }

    /// Makes a ZIP of a folder. The same folder gives the same bytes. A file
    /// that exists under the ZIP's name is replaced once the new one is whole.
    public static func pack(
        folder: String, to zip: String, limits: ContentLimits = .standard,
        progress: Progress = { _ in true }
    ) throws(ContentFault) -> ContentSummary {
        try checkPlace(of: zip, outside: folder)
        let partial = zip + ".partial"
        do throws(ContentFault) {
            let summary = try write(folder, to: partial, limits, progress)
            guard rename(partial, zip) == 0 else { throw .system(zip, "written") }
            try NewFolder.sync((zip as NSString).deletingLastPathComponent) { fsync($0) }
            return summary
        } catch {
            unlink(partial)
            throw error
        }
    }

    /// Unpacks a ZIP into a new folder: beside it first, and under its name
    /// when all is on the disk. Permissions of the ZIP are ignored.
    public static func unpack(
        zip: String, to folder: String, limits: ContentLimits = .standard,
        progress: Progress = { _ in true }
    ) throws(ContentFault) -> ContentSummary {
        let reader = try ZipReader(zip)
        var target = try NewFolder(folder)
        do throws(ContentFault) {
            var rules = EntryRules(limits, packageBytes: reader.packageBytes)
            while let head = try reader.next() {
                try rules.admit(head)
                try unpack(head, reader, into: &target, &rules, progress)
            }
            try reader.checkCount(rules.entries)
            let summary = try rules.summary()
            try target.publish()
            return summary
        } catch {
            target.discard()
            throw error
        }
    }

    private static func unpack(
        _ head: EntryHead, _ reader: ZipReader, into target: inout NewFolder,
        _ rules: inout EntryRules, _ progress: Progress
    ) throws(ContentFault) {
        guard head.kind == .file else { return try target.makeFolder(head.path) }
        let file = try target.makeFile(head.path)
        defer { close(file) }
        var info: [UInt8] = []
        try reader.eachPiece(of: head) { piece throws(ContentFault) in
            try rules.take(piece, of: head, keeping: &info, progress)
            try writeAll(piece, to: file, head.path)
        }
        try rules.end(head, info)
    }

    private static func write(
        _ folder: String, to zip: String, _ limits: ContentLimits, _ progress: Progress
    ) throws(ContentFault) -> ContentSummary {
        let writer = try ZipWriter(zip)
        let summary = try walk(
            folder, limits, progress,
            to: Writing(
                begin: { head throws(ContentFault) in try writer.begin(head) },
                write: { piece throws(ContentFault) in try writer.write(piece) }))
        try writer.finish()
        return summary
    }

    /// Throws for a ZIP inside of the folder that it packs, and in place of what is no
    /// file.
    private static func checkPlace(
        of zip: String, outside folder: String
    ) throws(ContentFault) {
        var status = stat()
        guard lstat(zip, &status) != 0 || status.st_mode & S_IFMT == S_IFREG else {
            throw ContentFault(
                .targetExists, "\(zip) exists and is not a file. Choose another name.")
        }
        let parent = (zip as NSString).deletingLastPathComponent
        guard let home = whole(parent.isEmpty ? "." : parent), let top = whole(folder) else {
            return
        }
        guard home != top, !home.hasPrefix(top + "/") else {
            throw ContentFault(
                .targetExists,
                "\(zip) would be inside of the folder that it packs. Choose a place beside it.")
        }
    }

    /// Without links and dots. Nil if there is no such path.
    private static func whole(_ path: String) -> String? {
        guard let found = realpath(path, nil) else { return nil }
        defer { free(found) }
        return String(cString: found)
    }

    private struct Writing {
        let begin: (EntryHead) throws(ContentFault) -> Void
        let write: (UnsafeRawBufferPointer) throws(ContentFault) -> Void
    }

    private static func walk(
        _ folder: String, _ limits: ContentLimits, _ progress: Progress, to writing: Writing?
    ) throws(ContentFault) -> ContentSummary {
        let walk = try FolderWalk(folder)
        var rules = EntryRules(limits, packageBytes: nil)
        try walk.each { head throws(ContentFault) in
            try rules.admit(head)
            guard head.kind == .file else { return }
            try writing?.begin(head)
            var info: [UInt8] = []
            try walk.eachPiece(of: head) { piece throws(ContentFault) in
                try rules.take(piece, of: head, keeping: &info, progress)
                try writing?.write(piece)
            }
            try rules.end(head, info)
        }
        return try rules.summary()
    }
}

extension EntryRules {
    fileprivate mutating func take(
        _ piece: UnsafeRawBufferPointer, of head: EntryHead, keeping info: inout [UInt8],
        _ progress: ContentPackage.Progress
    ) throws(ContentFault) {
        try count(piece.count, of: head)
        if head.path == ContentInfo.fileName, info.count <= limits.infoBytes {
            info += piece
        }
        guard progress(bytes) else {
            throw ContentFault(.cancelled, "The work on the package was cancelled.")
        }
    }

    fileprivate mutating func end(_ head: EntryHead, _ info: [UInt8]) throws(ContentFault) {
        try checkEnd(of: head)
        if head.path == ContentInfo.fileName { try setInfo(info) }
    }
}
