// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import Live
import StorageSQLite

/// The information about a running store for the commands of its user:
/// `run.json` in its data directory, and a copy in the user's runtime
/// directory. Both are readable only by their owner, because they contain the
/// doors' keys.
struct RunFile: Codable, Sendable {
    var url: String
    /// The URL by which others reach it through a proxy.
    var publicUrl: String?
    /// The URL of the port with TLS.
    var tlsUrl: String?
    /// The URLs of realms that have a port of their own.
    var realmUrls: [String: String]?
    var pid: Int32
    var data: String
    var operatorKey: String
    var controlKey: String
    var metricsKey: String?
    /// The path of the root certificate, PEM.
    var root: String
    var bundleId: String
    var appAppleId: Int64?
    /// The path of a server key, PKCS#8 PEM.
    var serverKey: String
    var serverKeyId: String
    var issuerId: String
    var version: String

    static let name = "run.json"

    /// Writes both copies.
    func write() throws {
        let bytes = Array(try Output.text(self).utf8)
        try PrivateFiles.store(bytes, as: Self.file(inData: data).path)
        try RunFolder.make(Self.runtimeFolder)
        try PrivateFiles.store(bytes, as: Self.runtimeFile(forData: data).path)
    }

    /// Removes both copies if they still belong to this process.
    func remove() {
        for file in [Self.file(inData: data), Self.runtimeFile(forData: data)]
        where Self.read(file)?.pid == pid {
            try? FileManager.default.removeItem(at: file)
        }
    }

    /// The running store with this data directory, or nil.
    static func running(inData data: String) -> RunFile? { alive(file(inData: data)) }

    /// All running stores of this user.
    static func allRunning() -> [RunFile] {
        RunFolder.files(in: runtimeFolder, extension: "json").compactMap(alive)
    }

    /// The process that serves the store, if this is confirmed.
    var holder: DirectoryHolder? { DirectoryHolder(of: data, claimed: pid) }

    /// Reads a store's file if its process is confirmed to serve the store. A
    /// file that an ended process left behind is removed.
    private static func alive(_ file: URL) -> RunFile? {
        guard let found = read(file) else { return nil }
        if found.holder != nil { return found }
        if kill(found.pid, 0) != 0, errno == ESRCH {
            try? FileManager.default.removeItem(at: file)
        }
        return nil
    }

    private static func read(_ file: URL) -> RunFile? {
        RunFolder.read(file).flatMap { try? JSONDecoder().decode(RunFile.self, from: $0) }
    }

    private static func file(inData data: String) -> URL {
        URL(fileURLWithPath: data).appendingPathComponent(name)
    }

    /// `extension` distinguishes stores' files from others'.
    static func runtimeFile(forData data: String, extension: String = "json") -> URL {
        let digest = SHA256.hash(data: Data(data.utf8)).prefix(8)
        let name = digest.map { String(UInt16($0) + 256, radix: 16).dropFirst() }.joined()
        return runtimeFolder.appendingPathComponent("\(name).\(`extension`)")
    }

    /// The folder with the run files of this user's servers.
    static var runtimeFolder: URL {
        if let folder = Live.environment["XDG_RUNTIME_DIR"], folder.hasPrefix("/") {
            return URL(fileURLWithPath: folder).appendingPathComponent("shopkeeper")
        }
        return FileManager.default.temporaryDirectory
            .appendingPathComponent("shopkeeper-\(getuid())")
    }
}
