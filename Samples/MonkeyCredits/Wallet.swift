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

    private let file: URL
    private var contents: Contents

    init(folder: URL) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        file = folder.appendingPathComponent("wallet.json")
        if FileManager.default.fileExists(atPath: file.path) {
            contents = try JSONDecoder().decode(Contents.self, from: Data(contentsOf: file))
        } else {
            contents = Contents()
        }
    }

    var balance: Int { contents.balance }

    /// Adds credits, once for each transaction. Returns whether it did so now.
    func credit(_ credits: Int, for transactionIdentifier: String) throws -> Bool {
        var changed = contents
        guard changed.credited.insert(transactionIdentifier).inserted else { return false }
        changed.balance += credits
        try save(changed)
        return true
    }

    /// Removes credits. Returns whether there were enough.
    func spend(_ credits: Int) throws -> Bool {
        guard credits <= contents.balance else { return false }
        var changed = contents
        changed.balance -= credits
        try save(changed)
        return true
    }

    private func save(_ changed: Contents) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        try encoder.encode(changed).write(to: file, options: .atomic)
        contents = changed
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
