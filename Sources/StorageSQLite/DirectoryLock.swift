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

/// A data directory of one's own: SQLite means one serving process. The lock
/// is the kernel's, so it ends with the process however that dies. The folder holds
/// keys, so nobody but its owner may enter it.
public final class DirectoryLock: Sendable {
    private let descriptor: Mutex<Int32?>

    /// The lock's file in its folder. It holds its holder's number, for words.
    public static let file = "lock"

    /// What only a data directory holds.
    private static let contents = [file, "store.sqlite", "ledger.sqlite", "seal.key"]

    /// Takes the lock of a folder, which is made where there is none, and
    /// closed to others where it is open.
    ///
    /// Throws ``StorageFault``: `busy` while another holds it, `unavailable`
    /// when the folder cannot be written, or be kept from others.
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

    /// Lets another take the lock.
    public func release() {
        descriptor.withLock { descriptor in
            if let held = descriptor { close(held) }
            descriptor = nil
        }
    }

    /// Writes this process's number, for the other's message.
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
