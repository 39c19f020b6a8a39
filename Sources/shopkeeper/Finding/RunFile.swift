// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import Live

/// What a running store tells the commands of its user: `run.json` in its
/// data directory, and the same in the user's runtime directory. Both are
/// readable by their owner alone, for they hold the doors' keys.
struct RunFile: Codable, Sendable {
    var url: String
    /// Where others reach it, through a proxy.
    var publicUrl: String?
    /// Realms that have a port of their own.
    var realmUrls: [String: String]?
    var pid: Int32
    var data: String
    var operatorKey: String
    var controlKey: String
    var metricsKey: String?
    /// File with the root certificate, PEM.
    var root: String
    var bundleId: String
    var appAppleId: Int64?
    /// File with a server key, PKCS#8 PEM.
    var serverKey: String
    var serverKeyId: String
    var issuerId: String
    var version: String

    static let name = "run.json"

    /// Writes both copies.
    func write() throws {
        let bytes = Data(try Output.text(self).utf8)
        try Self.write(bytes, to: URL(fileURLWithPath: data).appendingPathComponent(Self.name))
        try Self.makePrivateFolder(Self.runtimeFolder)
        try Self.write(bytes, to: Self.runtimeFile(forData: data))
    }

    /// Removes both copies, where they are still this process's.
    func remove() {
        for file in [
            URL(fileURLWithPath: data).appendingPathComponent(Self.name),
            Self.runtimeFile(forData: data),
        ] where Self.read(file)?.pid == pid {
            try? FileManager.default.removeItem(at: file)
        }
    }

    /// The store that has this data directory; nil when none runs.
    static func running(inData data: String) -> RunFile? {
        alive(URL(fileURLWithPath: data).appendingPathComponent(name))
    }

    /// Every store of this user that runs.
    static func allRunning() -> [RunFile] {
        let files = try? FileManager.default.contentsOfDirectory(
            at: runtimeFolder, includingPropertiesForKeys: nil)
        return (files ?? []).filter { $0.pathExtension == "json" }
            .sorted { $0.path < $1.path }.compactMap(alive)
    }

    /// A store's file; one that its process left behind is removed.
    private static func alive(_ file: URL) -> RunFile? {
        guard let found = read(file) else { return nil }
        if kill(found.pid, 0) == 0 || errno == EPERM { return found }
        try? FileManager.default.removeItem(at: file)
        return nil
    }

    private static func read(_ file: URL) -> RunFile? {
        guard let bytes = FileManager.default.contents(atPath: file.path) else { return nil }
        return try? JSONDecoder().decode(RunFile.self, from: bytes)
    }

    /// Replaces a file, for its owner alone.
    static func write(_ bytes: Data, to file: URL) throws {
        let new = file.path + ".new"
        try? FileManager.default.removeItem(atPath: new)
        let isMade = FileManager.default.createFile(
            atPath: new, contents: bytes, attributes: [.posixPermissions: 0o600])
        guard isMade, rename(new, file.path) == 0 else {
            throw Failure(
                .taken, "runFileUnwritable", "\(file.path) cannot be written.", field: "--data",
                remedy: "name a data directory that you may write in")
        }
    }

    /// Makes a folder of this user's alone, or refuses the one that is there.
    static func makePrivateFolder(_ folder: URL) throws {
        try? FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        var status = stat()
        let isOurs =
            lstat(folder.path, &status) == 0 && status.st_uid == getuid()
            && status.st_mode & S_IFMT == S_IFDIR && status.st_mode & 0o077 == 0
        guard isOurs else {
            throw Failure(
                .taken, "runtimeFolderUnsafe",
                "\(folder.path) is not a folder of this user's alone.",
                rule: "owned by the user, mode 0700",
                remedy: "remove it, or set XDG_RUNTIME_DIR to a folder of your own")
        }
    }

    /// `extension` tells stores' files from others'.
    static func runtimeFile(forData data: String, extension: String = "json") -> URL {
        let digest = SHA256.hash(data: Data(data.utf8)).prefix(8)
        let name = digest.map { String(UInt16($0) + 256, radix: 16).dropFirst() }.joined()
        return runtimeFolder.appendingPathComponent("\(name).\(`extension`)")
    }

    /// Where this user's running servers leave word.
    static var runtimeFolder: URL {
        if let folder = Live.environment["XDG_RUNTIME_DIR"], folder.hasPrefix("/") {
            return URL(fileURLWithPath: folder).appendingPathComponent("shopkeeper")
        }
        return FileManager.default.temporaryDirectory
            .appendingPathComponent("shopkeeper-\(getuid())")
    }
}
