// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// The device folder, as a port: where the queue file and the receipt lie.
/// Names are plain file names in one folder.
public protocol DeviceFiles: Sendable {
    /// A file's bytes; nil where there is none.
    func read(_ name: String) throws -> [UInt8]?

    /// Replaces files whole, in order, readable by their owner alone, and
    /// returns when that is on disk: after a crash each holds all of its old
    /// or all of its new bytes, and never the new ones of a later file with
    /// the old ones of an earlier. One call is one durable point.
    func replace(_ files: [DeviceFile]) throws

    /// Replaces a file whole and returns when a process that ends loses nothing
    /// of it. After a power failure it may hold all of its old bytes again. Not
    /// a durable point: for what is done again without harm.
    func exchange(_ file: DeviceFile) throws

    /// Runs `body` while no other process or device does. Held for milliseconds.
    func withLock<Result>(_ body: () throws -> Result) throws -> Result

    /// Shows other processes that this launch lives, until it ends or lets go.
    func claim(launch: String) throws

    /// Lets go of a claim; ends with the process at the latest.
    func release(launch: String)

    /// Whether a launch lives.
    func isClaimed(launch: String) -> Bool

    /// Where a file lies, for an app to read; nil where it lies in memory.
    func url(of name: String) -> URL?
}

extension DeviceFiles {
    public func exchange(_ file: DeviceFile) throws { try replace([file]) }
}

/// A file to be replaced.
public struct DeviceFile: Hashable, Sendable {
    public var name: String
    public var bytes: [UInt8]

    public init(name: String, bytes: [UInt8]) {
        self.name = name
        self.bytes = bytes
    }
}

/// What a disk or the system refused: a fault.
public struct DeviceFilesFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// One sentence naming what was tried.
    public let description: String
    /// The system's number, `ENOSPC` for a full disk.
    public let errorNumber: Int32

    public init(_ description: String, errorNumber: Int32) {
        self.description = description
        self.errorNumber = errorNumber
    }
}
