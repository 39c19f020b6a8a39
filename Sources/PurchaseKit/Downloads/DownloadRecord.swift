// SPDX-License-Identifier: Apache-2.0

/// What a device remembers of a download between launches, in a file beside the
/// bytes.
struct DownloadRecord: Hashable, Sendable, Codable {
    /// Whether the app has started it and neither paused nor cancelled it.
    var isWanted = false
    /// The version that was begun, which goes on while the store keeps it.
    var version: String?
    var length: Int64?
    var sha256: String?
    /// How many bytes are on the disk for certain. What follows them in the file
    /// may be wrong after a power failure.
    var syncedBytes: Int64 = 0
    /// Whether all bytes were there and had the digest.
    var isWhole = false
}
