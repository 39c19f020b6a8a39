// SPDX-License-Identifier: Apache-2.0

import Foundation
import StorageSQLite
import Synchronization

/// Reserves a free port of a loopback address until the server listens on it,
/// so that it is known before the server starts. A socket is bound to the port
/// without listening, and both sockets allow the address to be reused.
///
/// A class, because it owns a socket. It ends with its last reference.
final class FreePort: Sendable {
    let port: Int
    private let descriptor: Mutex<Int32?>

    /// Nil if no socket can be bound. The server then uses any port, without
    /// announcing it before. `preferred`: the port to use if it is free.
    static func find(host: String, preferred: Int?) -> FreePort? {
        preferred.flatMap { UInt16(exactly: $0) }.flatMap { FreePort(host: host, port: $0) }
            ?? FreePort(host: host, port: 0)
    }

    private init?(host: String, port wanted: UInt16) {
        let isV6 = host == "::1"
        let text = host == "localhost" ? "127.0.0.1" : host
        let descriptor = socket(
            isV6 ? AF_INET6 : AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        var yes: Int32 = 1
        setsockopt(
            descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        guard
            let port = isV6
                ? Self.bindV6(descriptor, wanted) : Self.bindV4(descriptor, text, wanted)
        else {
            close(descriptor)
            return nil
        }
        self.port = port
        self.descriptor = Mutex(descriptor)
    }

    deinit { release() }

    /// Releases the port, because the server listens on it now.
    func release() {
        descriptor.withLock { descriptor in
            if let held = descriptor { close(held) }
            descriptor = nil
        }
    }

    private static func bindV4(_ descriptor: Int32, _ host: String, _ port: UInt16) -> Int? {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        guard inet_pton(AF_INET, host, &address.sin_addr) == 1 else { return nil }
        guard bind(descriptor, &address) else { return nil }
        return Int(UInt16(bigEndian: address.sin_port))
    }

    private static func bindV6(_ descriptor: Int32, _ port: UInt16) -> Int? {
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_port = port.bigEndian
        address.sin6_addr = in6addr_loopback
        guard bind(descriptor, &address) else { return nil }
        return Int(UInt16(bigEndian: address.sin6_port))
    }

    /// Binds the socket, and reads back its address.
    private static func bind<Address>(_ descriptor: Int32, _ address: inout Address) -> Bool {
        var length = socklen_t(MemoryLayout<Address>.size)
        return withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                Foundation.bind(descriptor, address, length) == 0
                    && getsockname(descriptor, address, &length) == 0
            }
        }
    }
}

/// The port on which a data directory was last served. Any free one would do,
/// but certificates name the one that was used when they were made.
struct LastPort {
    private let file: String

    init(_ folder: StoreFolder) { file = folder.file("port") }

    func reserve(_ host: String) -> FreePort? {
        let text = try? String(contentsOfFile: file, encoding: .utf8)
        return FreePort.find(
            host: host,
            preferred: text.flatMap { Int($0.trimmingCharacters(in: .whitespacesAndNewlines)) })
    }

    /// If the port cannot be stored, the next start uses another one.
    func write(_ port: Int) {
        try? PrivateFiles.store(Array("\(port)\n".utf8), as: file)
    }
}
