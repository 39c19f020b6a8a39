// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// The port to the device folder, with the queue file, the histories and the
/// receipt. Names are plain file names in one folder.
public protocol DeviceFiles: Sendable {
    /// Returns a file's bytes. Nil if there is no such file. What is no regular
    /// file, such as a pipe or a folder, has no bytes, so that it is set aside
    /// as an empty file is.
    func read(_ name: String) throws -> [UInt8]?

    /// Returns at most the first `count` bytes of a file. Nil if there is no
    /// such file.
    func read(_ name: String, atMost count: Int) throws -> [UInt8]?

    /// Replaces files (what is no regular file gets another name), in order, readable only by their owner, and returns when
    /// this is durable. After a crash each file has either all of its old bytes
    /// or all of its new ones. A later file never has new bytes while an
    /// earlier one has old bytes. One call is one durable point.
    func replace(_ files: [DeviceFile]) throws

    /// Replaces a file. Returns when the end of the process cannot lose the
    /// change. After a power failure the file may have all of its old bytes
    /// again. Not a durable point: use it for what can be repeated without
    /// harm.
    func exchange(_ file: DeviceFile) throws

    /// Gives a file another name, whatever its size.
    func setAside(_ name: String, as other: String) throws

    /// Runs `body` while no other process or device does. It should take only
    /// milliseconds. Throws if another one does not end.
    func withLock<Result>(_ body: () throws -> Result) throws -> Result

    /// Shows other processes that this launch is alive, until it ends or calls
    /// ``release(launch:)``. A repeat changes nothing.
    func claim(launch: String) throws

    /// Ends a claim. It also ends with the process.
    func release(launch: String)

    /// Whether a launch is alive.
    func isClaimed(launch: String) -> Bool

    /// The URL of a file, for an app to read. Nil if the file is in memory.
    func url(of name: String) -> URL?
}

extension DeviceFiles {
    public func read(_ name: String, atMost count: Int) throws -> [UInt8]? {
        try read(name).map { Array($0.prefix(count)) }
    }

    public func exchange(_ file: DeviceFile) throws { try replace([file]) }

    /// Copies it: the next write replaces the old name.
    public func setAside(_ name: String, as other: String) throws {
        if let bytes = try read(name) { try replace([DeviceFile(name: other, bytes: bytes)]) }
    }
}

/// A file's new contents.
public struct DeviceFile: Hashable, Sendable {
    public var name: String
    public var bytes: [UInt8]

    public init(name: String, bytes: [UInt8]) {
        self.name = name
        self.bytes = bytes
    }
}

/// A disk or the system rejected an operation.
public struct DeviceFilesFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// One sentence that names the operation.
    public let description: String
    /// The system's error number, for example `ENOSPC` for a full disk.
    public let errorNumber: Int32

    public init(_ description: String, errorNumber: Int32) {
        self.description = description
        self.errorNumber = errorNumber
    }
}
