// SPDX-License-Identifier: Apache-2.0

/// The cost of hashing a password: scrypt's parameters.
public struct PasswordCost: Hashable, Sendable {
    /// N, a power of two.
    public let rounds: Int
    /// scrypt's r.
    public let blockSize: Int
    /// scrypt's p.
    public let parallelism: Int

    /// `rounds` is a power of two from 2 to 2^20. The memory is 128 · rounds ·
    /// blockSize bytes.
    public init(rounds: Int, blockSize: Int = 8, parallelism: Int = 1) {
        precondition(
            (2...1_048_576).contains(rounds) && rounds & (rounds - 1) == 0,
            "scrypt's rounds are a power of two from 2 to 2^20")
        precondition(
            (1...32).contains(blockSize) && (1...16).contains(parallelism),
            "scrypt's block size is 1 to 32 and its parallelism 1 to 16")
        self.rounds = rounds
        self.blockSize = blockSize
        self.parallelism = parallelism
    }

    /// The most memory for verifying a stored password, which may come from a
    /// foreign backup. A hash that costs more is never one of ours.
    static let bytesMax = 256 * 1024 * 1024
    /// The highest N · r · p for this: four times what OWASP recommends.
    static let mixesMax = 4_194_304

    /// 128 MiB and some tenths of a second for each hash. This is the first
    /// recommendation of OWASP's Password Storage Cheat Sheet (N = 2^17, r = 8,
    /// p = 1).
    public static let standard = PasswordCost(rounds: 131_072)

    /// Time is proportional to this.
    var work: Int { rounds * blockSize * parallelism }
}
