// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The SHA-256 of an archive, as its last line has it. An attacker with write
/// access to the file can change that line too, but not the checksum that was
/// kept elsewhere.
public struct ArchiveChecksum: Hashable, Sendable {
    private static let digits = 64

    let text: String

    /// Nil if the text is not 64 hexadecimal digits.
    public init?(_ text: String) {
        guard text.utf8.count == Self.digits, text.allSatisfy(\.isHexDigit) else { return nil }
        self.text = text.lowercased()
    }
}

extension ArchiveContents {
    /// Checks that this is the expected archive. Nil: any archive. Throws
    /// ``ArchiveFault``.
    public func check(_ expected: ArchiveChecksum?) throws {
        guard let expected, expected.text != sha256 else { return }
        throw ArchiveFault(
            .damaged, "\(path) is not the expected backup: its SHA-256 is \(sha256).",
            rule: "the SHA-256 that was printed when the backup was made, \(expected.text)",
            remedy: "use the backup with that checksum; or leave --sha256 out if you trust the "
                + "place of this one")
    }
}
