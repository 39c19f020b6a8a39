// SPDX-License-Identifier: Apache-2.0

import Commerce
import Crypto
import _CryptoExtras
import Foundation

/// Passwords as they are stored: scrypt, with the cost and the salt written
/// beside the hash, so that the cost can be raised without losing anybody.
/// A class for its queue: guesses are made one after the other, off the
/// threads that serve everything else, so that a burst of them costs no
/// more than one guess's memory.
final class Passwords: Sendable {
    /// Beyond this a password is refused before it is hashed.
    static let bytesMax = 256
    private static let saltBytes = 16
    private static let hashBytes = 32

    private let cost: PasswordCost
    private let randomness: Randomness
    private let queue = DispatchQueue(label: "shopkeeper.passwords")
    /// What is compared with when there is nothing to compare with.
    private let decoySalt: [UInt8]

    init(cost: PasswordCost, randomness: Randomness) {
        self.cost = cost
        self.randomness = randomness
        decoySalt = randomness.bytes(Self.saltBytes)
    }

    /// `scrypt$N$r$p$salt$hash`, salt and hash in hexadecimal digits.
    func hash(_ password: String) async throws -> String {
        let salt = randomness.bytes(Self.saltBytes)
        let hash = try await derive(password, salt: salt, cost)
        return [
            "scrypt", "\(cost.rounds)", "\(cost.blockSize)", "\(cost.parallelism)",
            hexadecimal(salt), hexadecimal(hash),
        ].joined(separator: "$")
    }

    /// Whether the password is the one that was hashed. Without a hash it
    /// takes as long and says no.
    func matches(_ password: String, _ stored: String?) async throws -> Bool {
        guard password.utf8.count <= Self.bytesMax else { return false }
        guard let stored, let parts = StoredPassword(stored) else {
            _ = try await derive(password, salt: decoySalt, cost)
            return false
        }
        let hash = try await derive(password, salt: parts.salt, parts.cost)
        return constantTimeEqual(hash, parts.hash)
    }

    /// Whether it is a hash that ``matches(_:_:)`` compares with.
    static func isStored(_ text: String) -> Bool { StoredPassword(text) != nil }

    private func derive(
        _ password: String, salt: [UInt8], _ cost: PasswordCost
    ) async throws -> [UInt8] {
        try await withCheckedThrowingContinuation { continuation in
            queue.async {
                continuation.resume(
                    with: Result {
                        let key = try KDF.Scrypt.deriveKey(
                            from: Array(password.utf8), salt: salt,
                            outputByteCount: Self.hashBytes, rounds: cost.rounds,
                            blockSize: cost.blockSize, parallelism: cost.parallelism)
                        return key.withUnsafeBytes { Array($0) }
                    })
            }
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

/// The bytes that hexadecimal digits spell; nil when `text` is none.
func bytes(hexadecimal text: some StringProtocol) -> [UInt8]? {
    let digits = Array(text.utf8)
    guard digits.count % 2 == 0 else { return nil }
    var bytes: [UInt8] = []
    for index in stride(from: 0, to: digits.count, by: 2) {
        guard let high = digit(digits[index]), let low = digit(digits[index + 1]) else {
            return nil
        }
        bytes.append(high << 4 | low)
    }
    return bytes
}

private func digit(_ character: UInt8) -> UInt8? {
    switch character {
    case 48...57: character - 48
    case 97...102: character - 87
    case 65...70: character - 55
    default: nil
    }
}
