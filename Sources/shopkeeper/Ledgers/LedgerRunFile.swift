// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import Live
import StorageSQLite

/// The information about a running ledger for the commands of its user, like a
/// store's ``RunFile``: `run.json` in its data directory, and a copy in the
/// user's runtime directory.
struct LedgerRunFile: Codable, Sendable {
    var url: String
    /// The URL by which others reach it through a proxy.
    var publicUrl: String?
    var pid: Int32
    var data: String
    /// The key of the ledger's door.
    var key: String
    /// The key of its metrics.
    var metricsKey: String?
    var version: String

    /// The address for a store's notifications.
    var notifications: String { (publicUrl ?? url) + "/ledger/v1/notifications" }

    private static let copy = "ledger"

    func write() throws {
        let bytes = Array(try Output.text(self).utf8)
        try PrivateFiles.store(bytes, as: Self.file(inData: data).path)
        try RunFolder.make(RunFile.runtimeFolder)
        try PrivateFiles.store(
            bytes, as: RunFile.runtimeFile(forData: data, extension: Self.copy).path)
    }

    /// Removes both copies if they still belong to this process.
    func remove() {
        for file in [
            Self.file(inData: data), RunFile.runtimeFile(forData: data, extension: Self.copy),
        ] where Self.read(file)?.pid == pid {
            try? FileManager.default.removeItem(at: file)
        }
    }

    /// The running ledger with this data directory, or nil.
    static func running(inData data: String) -> LedgerRunFile? { alive(file(inData: data)) }

    /// All running ledgers of this user.
    static func allRunning() -> [LedgerRunFile] {
        RunFolder.files(in: RunFile.runtimeFolder, extension: copy).compactMap(alive)
    }

    private static func alive(_ file: URL) -> LedgerRunFile? {
        guard let found = read(file) else { return nil }
        if DirectoryHolder(of: found.data, claimed: found.pid) != nil { return found }
        if kill(found.pid, 0) != 0, errno == ESRCH {
            try? FileManager.default.removeItem(at: file)
        }
        return nil
    }

    private static func read(_ file: URL) -> LedgerRunFile? {
        RunFolder.read(file).flatMap { try? JSONDecoder().decode(LedgerRunFile.self, from: $0) }
    }

    private static func file(inData data: String) -> URL {
        URL(fileURLWithPath: data).appendingPathComponent(RunFile.name)
    }
}

/// Options that select a running ledger.
struct LedgerOptions: ParsableArguments {
    @Option(name: .long, help: "The ledger's data directory; default: the only running ledger.")
    var data: String?

    /// Returns the ledger's door. Throws a failure with status 69 if there is
    /// none.
    func door() throws -> DoorClient {
        let run = try find()
        return DoorClient(base: run.url + DoorClient.ledgerPath, key: run.key)
    }

    private func find() throws -> LedgerRunFile {
        if let data {
            let path = URL(fileURLWithPath: data).standardizedFileURL.path
            guard let run = LedgerRunFile.running(inData: path) else {
                throw Self.noLedger("No ledger is running on \(path).", field: "--data")
            }
            return run
        }
        let running = LedgerRunFile.allRunning()
        guard let run = running.first else { throw Self.noLedger("No ledger is running.") }
        guard running.count == 1 else {
            let list = running.map { "\($0.url) on \($0.data)" }.joined(separator: ", ")
            throw Failure(
                .unavailable, "severalLedgers", "Several ledgers are running: \(list).",
                field: "--data", rule: "one ledger is meant", remedy: "name its data directory")
        }
        return run
    }

    private static func noLedger(_ message: String, field: String? = nil) -> Failure {
        Failure(
            .unavailable, "noLedger", message, field: field,
            remedy: "start one with `shopkeeper ledger serve`")
    }

    /// Returns an account as a part of an address.
    static func path(_ account: String) throws -> String {
        guard !account.isEmpty,
            let path = account.addingPercentEncoding(withAllowedCharacters: .alphanumerics)
        else {
            throw Failure(
                .usage, "accountInvalid", "The account is empty.", field: "ACCOUNT",
                remedy: "name one")
        }
        return "/accounts/\(path)"
    }
}
