// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The user's credits. The balance and the credited transactions are in one
/// file that is replaced as a whole. So a crash between crediting and finishing
/// a transaction credits it only once.
final class Wallet {
    private struct Contents: Codable {
        var balance = 0
        var credited: Set<String> = []
    }

    private let folder: URL
    private var file: URL { folder.appendingPathComponent("wallet.json") }

    init(folder: URL) throws {
        self.folder = folder
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        _ = try read()
    }

    /// The balance that is in the file now. 0 if it cannot be read.
    var balance: Int { (try? read().balance) ?? 0 }

    /// Adds credits, once for each transaction. Returns whether it did so now.
    func credit(_ credits: Int, for transactionIdentifier: String) throws -> Bool {
        try change { contents in
            guard contents.credited.insert(transactionIdentifier).inserted else { return false }
            contents.balance += credits
            return true
        }
    }

    /// Removes credits. Returns whether there were enough.
    func spend(_ credits: Int) throws -> Bool {
        try change { contents in
            guard credits <= contents.balance else { return false }
            contents.balance -= credits
            return true
        }
    }

    /// Reads the file, changes it and writes it, while no other process of the
    /// app does. Writes only if `body` returns true.
    private func change(_ body: (inout Contents) -> Bool) throws -> Bool {
        try withLock {
            var contents = try read()
            guard body(&contents) else { return false }
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
            try encoder.encode(contents).write(to: file, options: .atomic)
            return true
        }
    }

    private func read() throws -> Contents {
        guard FileManager.default.fileExists(atPath: file.path) else { return Contents() }
        return try JSONDecoder().decode(Contents.self, from: Data(contentsOf: file))
    }

    /// Another process that was stopped while it had the lock must not stop this
    /// one for ever.
    struct IsLocked: LocalizedError {
        let path: String
        var errorDescription: String? { "\(path): another process keeps it locked." }
    }

    private static let lockMicroseconds: UInt32 = 5_000_000

    /// The lock ends with the process, however that ends.
    private func withLock<Result>(_ body: () throws -> Result) throws -> Result {
        let path = folder.appendingPathComponent("wallet.lock").path
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw CocoaError(.fileWriteNoPermission) }
        defer { close(descriptor) }
        var waited: UInt32 = 0
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR else { throw CocoaError(.fileLocking) }
            guard waited < Self.lockMicroseconds else { throw IsLocked(path: path) }
            usleep(2000)
            waited += 2000
        }
        return try body()
    }

    /// `MONKEY_CREDITS_HOME`, or the user's folder for applications' data.
    static var defaultFolder: URL {
        if let home = ProcessInfo.processInfo.environment["MONKEY_CREDITS_HOME"] {
            return URL(fileURLWithPath: home)
        }
        let support = FileManager.default.urls(
            for: .applicationSupportDirectory, in: .userDomainMask
        ).first
        return (support ?? FileManager.default.temporaryDirectory)
            .appendingPathComponent("MonkeyCredits")
    }
}
