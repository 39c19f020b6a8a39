// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import Live
import StorageSQLite

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
        let bytes = Array(try Output.text(self).utf8)
        try PrivateFiles.store(bytes, as: Self.file(inData: data).path)
        try RunFolder.make(Self.runtimeFolder)
        try PrivateFiles.store(bytes, as: Self.runtimeFile(forData: data).path)
    }

    /// Removes both copies, where they are still this process's.
    func remove() {
        for file in [Self.file(inData: data), Self.runtimeFile(forData: data)]
        where Self.read(file)?.pid == pid {
            try? FileManager.default.removeItem(at: file)
        }
    }

    /// The store that has this data directory; nil when none runs.
    static func running(inData data: String) -> RunFile? { alive(file(inData: data)) }

    /// Every store of this user that runs.
    static func allRunning() -> [RunFile] {
        RunFolder.files(in: runtimeFolder, extension: "json").compactMap(alive)
    }

    /// The process that serves the store, where it is proven to.
    var holder: DirectoryHolder? { DirectoryHolder(of: data, claimed: pid) }

    /// A store's file, where its process is proven to serve the store; one that its
    /// process left behind is removed.
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
