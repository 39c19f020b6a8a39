// SPDX-License-Identifier: Apache-2.0

public import Storage
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// An exclusive data directory, because SQLite needs a single serving process.
/// The lock is the kernel's, so it ends with the process however that ends. The
/// folder contains keys, so only its owner may enter it.
public final class DirectoryLock: Sendable {
    private let descriptor: Mutex<Int32?>

    /// The lock file in the folder. It contains the process id of the holder,
    /// for messages.
    public static let file = "lock"

    /// Files that only a data directory contains.
    private static let contents = [
        file, "store.sqlite", "ledger.sqlite", "seal.key", "restore.unfinished",
    ]

    /// Locks a folder. Creates it if it does not exist, and removes other
    /// users' permissions if it has any.
    ///
    /// Throws ``StorageFault``: `busy` if another process holds the lock,
    /// `unavailable` if the folder cannot be written, or cannot be closed to
    /// other users.
    public init(folder: String) throws(StorageFault) {
        try PrivateFiles.makeOwnFolder(folder, holding: Self.contents)
        let path = folder + "/" + Self.file
        let flags = O_CREAT | O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
        let descriptor = open(path, flags, 0o600)
        guard descriptor >= 0 else { throw PrivateFiles.failure(path, "cannot be opened") }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let isHeld = errno == EWOULDBLOCK
            let failure = PrivateFiles.failure(path, "cannot be locked")
            let holder = Self.holder(descriptor)
            close(descriptor)
            guard isHeld else { throw failure }
            throw StorageFault(
                .busy,
                "\(folder) is in use by process \(holder): one process at a time serves a data "
                    + "directory; stop that one or choose another directory")
        }
        Self.sign(descriptor)
        self.descriptor = Mutex(descriptor)
    }

    deinit { release() }

    /// Releases the lock.
    public func release() {
        descriptor.withLock { descriptor in
            if let held = descriptor { close(held) }
            descriptor = nil
        }
    }

    /// Writes this process's id, for the message of another process that is
    /// kept out.
    private static func sign(_ descriptor: Int32) {
        let text = Array("\(getpid())\n".utf8)
        _ = ftruncate(descriptor, 0)
        _ = pwrite(descriptor, text, text.count, 0)
    }

    private static func holder(_ descriptor: Int32) -> String {
        var bytes = [UInt8](repeating: 0, count: 20)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        let digits = bytes.prefix(max(0, count)).prefix { (48...57).contains($0) }
        return digits.isEmpty ? "(unknown)" : String(decoding: digits, as: UTF8.self)
    }
}
