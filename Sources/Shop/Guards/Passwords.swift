// SPDX-License-Identifier: Apache-2.0

import Commerce
import Crypto
import Foundation
import _CryptoExtras

/// Hashes passwords with scrypt. Cost and salt are stored beside the hash, so
/// that old hashes still match after a change of the cost.
struct Passwords: Sendable {
    /// Longer passwords are refused without hashing.
    static let bytesMax = 256
    /// The shortest password of a customer in a production realm.
    static let productionCharactersMin = 8
    private static let saltBytes = 16
    private static let hashBytes = 32

    private let cost: PasswordCost
    private let randomness: Randomness
    private let queue: PasswordQueue
    /// The salt for comparisons without a stored hash.
    private let decoySalt: [UInt8]

    init(cost: PasswordCost, randomness: Randomness, queue: PasswordQueue) {
        self.cost = cost
        self.randomness = randomness
        self.queue = queue
        decoySalt = randomness.bytes(Self.saltBytes)
    }

    /// Returns `scrypt$N$r$p$salt$hash`, with salt and hash in hexadecimal
    /// digits. `holder`: see ``PasswordQueue/run(_:for:_:)``.
    func hash(_ password: String, for holder: String? = nil) async throws -> String {
        let salt = randomness.bytes(Self.saltBytes)
        let hash = try await derive(password, salt: salt, cost, holder)
        return [
            "scrypt", "\(cost.rounds)", "\(cost.blockSize)", "\(cost.parallelism)",
            hexadecimal(salt), hexadecimal(hash),
        ].joined(separator: "$")
    }

    /// Whether the password matches the hash. Without a hash, returns false
    /// after as much time as the hash `decoy` of another customer needs. So
    /// unknown names take as long as known ones, even while hashes of different
    /// costs are stored.
    func matches(
        _ password: String, _ stored: String?, decoy: String? = nil, for holder: String? = nil
    ) async throws -> Bool {
        guard password.utf8.count <= Self.bytesMax else { return false }
        guard let stored, let parts = StoredPassword(stored) else {
            let alike = decoy.flatMap(StoredPassword.init)?.cost ?? cost
            _ = try await derive(password, salt: decoySalt, alike, holder)
            return false
        }
        let hash = try await derive(password, salt: parts.salt, parts.cost, holder)
        return constantTimeEqual(hash, parts.hash)
    }

    /// Whether the text is a hash that ``matches(_:_:)`` accepts.
    static func isStored(_ text: String) -> Bool { StoredPassword(text) != nil }

    /// Whether a hash has another cost than new ones.
    func isOutdated(_ stored: String) -> Bool {
        StoredPassword(stored).map { $0.cost != cost } ?? false
    }

    private func derive(
        _ password: String, salt: [UInt8], _ cost: PasswordCost, _ holder: String?
    ) async throws -> [UInt8] {
        try await queue.run(cost, for: holder) {
            let key = try KDF.Scrypt.deriveKey(
                from: Array(password.utf8), salt: salt, outputByteCount: Self.hashBytes,
                rounds: cost.rounds, blockSize: cost.blockSize, parallelism: cost.parallelism)
            return key.withUnsafeBytes { Array($0) }
        }
    }
}

private struct StoredPassword {
    let cost: PasswordCost
    let salt: [UInt8]
    let hash: [UInt8]

    init?(_ text: String) {
        let parts = text.split(separator: "$").map(String.init)
        guard parts.count == 6, parts[0] == "scrypt", let rounds = Int(parts[1]),
            let blockSize = Int(parts[2]), let parallelism = Int(parts[3]),
            let salt = bytes(hexadecimal: parts[4]), let hash = bytes(hexadecimal: parts[5])
        else { return nil }
        guard (2...1_048_576).contains(rounds), rounds & (rounds - 1) == 0,
            (1...32).contains(blockSize), (1...16).contains(parallelism),
            rounds * blockSize * 128 <= PasswordCost.bytesMax,
            rounds * blockSize * parallelism <= PasswordCost.mixesMax,
            salt.count <= 64, hash.count <= 64, !hash.isEmpty
        else { return nil }
        cost = PasswordCost(rounds: rounds, blockSize: blockSize, parallelism: parallelism)
        self.salt = salt
        self.hash = hash
    }
}
