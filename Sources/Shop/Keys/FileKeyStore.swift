// SPDX-License-Identifier: Apache-2.0

public import Commerce
import Foundation

/// Keys as files of mode 0600 in a folder of mode 0700. A name may contain
/// folders: `sandbox/root.pem`.
///
/// A key is written beside its place, synced, and then linked to it. Linking
/// fails if the file exists, so the first writer wins and no reader sees an
/// incomplete key. If others can read a key's file, reading it first removes
/// their permissions.
public struct FileKeyStore: KeyStore {
    private let directory: String
    private let randomness: Randomness

    /// The most bytes of one key. All of ours are far smaller.
    static let bytesMax = 1_048_576

    /// `directory` is created when the first key is stored. `randomness` is
    /// used for the names of temporary files.
    public init(directory: String, randomness: Randomness) {
        self.directory = directory
        self.randomness = randomness
    }

    public func read(_ name: String) async throws -> [UInt8]? {
        let path = try path(of: name)
        guard let bytes = try readFile(path, name: name) else { return nil }
        // A process that was killed may have linked it without syncing its
        // name.
        try sync(folder: folder(of: path), name: name)
        return bytes
    }

    private func folder(of path: String) -> String {
        String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)])
    }

    public func store(_ bytes: [UInt8], as name: String) async throws -> [UInt8] {
        guard bytes.count <= Self.bytesMax else {
            throw KeyStoreFault(name, "longer than \(Self.bytesMax) bytes")
        }
        let path = try path(of: name)
        if let stored = try await read(name) { return stored }
        let folder = folder(of: path)
        try makeFolder(folder, name: name)
        let written = "\(path).\(randomness.hex(8)).part"
        defer { unlink(written) }
        try write(bytes, to: written, name: name)
        guard link(written, path) == 0 || errno == EEXIST else { throw fault(name, "link") }
        try sync(folder: folder, name: name)
        guard let winner = try readFile(path, name: name) else {
            throw KeyStoreFault(name, "vanished while it was stored")
        }
        return winner
    }

    public func replace(_ bytes: [UInt8], as name: String) async throws {
        let path = try path(of: name)
        guard bytes.count <= Self.bytesMax, try readFile(path, name: name) != nil else {
            throw KeyStoreFault(name, "is not stored, or would be too long")
        }
        let written = "\(path).\(randomness.hex(8)).part"
        defer { unlink(written) }
        try write(bytes, to: written, name: name)
        guard rename(written, path) == 0 else { throw fault(name, "replace") }
        try sync(folder: String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)]), name: name)
    }

    /// Returns all names. Files with other names, and temporary ones, are
    /// skipped.
    public func names() async throws -> [String] {
        let root = URL(fileURLWithPath: directory)
        guard let files = FileManager.default.enumerator(atPath: root.path) else { return [] }
        return files.compactMap { $0 as? String }.filter { name in
            var isFolder: ObjCBool = false
            return !name.hasSuffix(".part") && (try? path(of: name)) != nil
                && FileManager.default.fileExists(
                    atPath: directory + "/" + name, isDirectory: &isFolder)
                && !isFolder.boolValue
        }.sorted()
    }

    /// Removes what writers left that were killed: such a file may hold a private
    /// key. Call it while no other process writes keys here.
    public func removeLeft() {
        let files = FileManager.default.enumerator(atPath: directory)?.compactMap { $0 as? String }
        for name in files ?? [] {
            let parts = name.split(separator: ".", omittingEmptySubsequences: false)
            guard parts.count > 2, parts.last == "part",
                parts[parts.count - 2].utf8.count == Self.partDigits,
                parts[parts.count - 2].allSatisfy(\.isHexDigit)
            else { continue }
            unlink(directory + "/" + name)
        }
    }

    /// Digits in the name of a file that is being written.
    private static let partDigits = 16

    private func path(of name: String) throws -> String {
        let parts = name.split(separator: "/", omittingEmptySubsequences: false)
        let isPlain = parts.allSatisfy { part in
            !part.isEmpty && !part.hasPrefix(".")
                && part.utf8.allSatisfy { byte in
                    (97...122).contains(byte) || (65...90).contains(byte)
                        || (48...57).contains(byte) || [45, 46, 95].contains(byte)
                }
        }
        guard isPlain, name.utf8.count <= 200 else {
            throw KeyStoreFault(name, "a name is letters, digits, `-`, `_`, `.` and single `/`")
        }
        return directory + "/" + name
    }

    private func readFile(_ path: String, name: String) throws -> [UInt8]? {
        let file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else {
            if errno == ENOENT { return nil }
            throw fault(name, "open")
        }
        defer { close(file) }
        var facts = stat()
        guard fstat(file, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else {
            throw KeyStoreFault(name, "is not a file of its own")
        }
        guard facts.st_mode & 0o077 == 0 || fchmod(file, 0o600) == 0 else {
            throw fault(name, "be kept from others (mode 0600)")
        }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = Foundation.read(file, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0, bytes.count <= Self.bytesMax else { throw fault(name, "read") }
            if count == 0 { return bytes }
            bytes.append(contentsOf: chunk[..<count])
        }
    }

    private func write(_ bytes: [UInt8], to path: String, name: String) throws {
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw fault(name, "create") }
        defer { close(file) }
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.write(file, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw fault(name, "write") }
            rest = rest.dropFirst(count)
        }
        guard fsync(file) == 0 else { throw fault(name, "sync") }
    }

    private func makeFolder(_ folder: String, name: String) throws {
        do {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
        } catch {
            throw KeyStoreFault(name, "its folder cannot be made: \(error.localizedDescription)")
        }
    }

    private func sync(folder: String, name: String) throws {
        let file = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard file >= 0 else { throw fault(name, "open the folder") }
        defer { close(file) }
        guard fsync(file) == 0 else { throw fault(name, "sync the folder") }
    }

    private func fault(_ name: String, _ step: String) -> KeyStoreFault {
        KeyStoreFault(name, "cannot \(step): \(String(cString: strerror(errno)))")
    }
}
