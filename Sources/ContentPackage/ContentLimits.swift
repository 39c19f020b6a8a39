// SPDX-License-Identifier: Apache-2.0

/// What a package may hold at most. Reader and writer have the same limits.
public struct ContentLimits: Sendable, Hashable {
    /// Files and folders. A file system slows down with more, and each costs
    /// memory while a package is read.
    public var entries = 50_000
    /// Of all unpacked files together: 4 GiB. A device must have room for the
    /// package and for what is unpacked.
    public var totalBytes: Int64 = 4 << 30
    /// How many times its own size a package may unpack to. Ordinary files stay
    /// below 20; blank images reach some hundreds.
    public var ratio: Int64 = 250
    /// What a package may unpack to whatever its ratio: 64 MiB.
    public var freeBytes: Int64 = 64 << 20
    /// Bytes of an entry's name, so that it also fits below an app's folder.
    public var pathBytes = 1_024
    /// Bytes of each part of a name: what file systems allow.
    public var partBytes = 255
    /// Folders within folders.
    public var depth = 32
    /// Bytes of `ContentInfo.plist`, which has two short values.
    public var infoBytes = 64 * 1024

    public init() {}

    /// What every package is checked against.
    public static let standard = ContentLimits()
}
