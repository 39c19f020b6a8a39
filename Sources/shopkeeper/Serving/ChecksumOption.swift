// SPDX-License-Identifier: Apache-2.0

import Archive
import ArgumentParser

/// The checksum of the backup that is to be restored.
struct ChecksumOption: ParsableArguments {
    @Option(
        name: .long,
        help: "The SHA-256 that the backup printed; a file with another one is refused.")
    var sha256: Checksum?

    struct Checksum: ExpressibleByArgument {
        let value: ArchiveChecksum

        init?(argument: String) {
            guard let value = ArchiveChecksum(argument) else { return nil }
            self.value = value
        }
    }
}
