// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// A proxy on loopback that resets each connection which carries content after so many
/// bytes, until it has made all its cuts.
final class CuttingProxy: Sendable {
    let port: UInt16
    private let listener: Int32
    private let store: UInt16
    private let bytesMax: Int
    private let state: Mutex<(cutsLeft: Int, bodyBytes: Int)>

    init(to store: UInt16, cuts: Int, bytesMax: Int) throws {
        (self.store, self.bytesMax) = (store, bytesMax)
        state = Mutex((cuts, 0))
        listener = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = listener
        let isReady = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, size) == 0 && getsockname(listener, $0, &size) == 0
                    && listen(listener, 64) == 0
            }
        }
        guard isReady else { throw ClientFailure("a proxy cannot listen") }
        port = UInt16(bigEndian: address.sin_port)
        Thread.detachNewThread { [self] in
            while true {
                let client = accept(listener, nil, nil)
                guard client >= 0 else { return }
                Thread.detachNewThread { [self] in serve(client) }
            }
        }
    }

    /// How many cuts were not made.
    var cutsLeft: Int { state.withLock { $0.cutsLeft } }
    /// The bytes of content that were handed on.
    var bodyBytes: Int { state.withLock { $0.bodyBytes } }

    func stop() {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }

    private func serve(_ client: Int32) {
        guard let server = try? Client.connect(store) else {
            close(client)
            return
        }
        let first = Self.read(client)
        let isContent = first.starts(with: Array("GET /content/".utf8))
        let down = DispatchGroup()
        down.enter()
        Thread.detachNewThread { [self] in
            if isContent { handDown(server, client) } else { Self.hand(server, client) }
            down.leave()
        }
        if (try? Client.send(server, first)) != nil, !first.isEmpty { Self.hand(client, server) }
        shutdown(server, Int32(SHUT_RDWR))
        down.wait()
        close(client)
        close(server)
    }

    /// Hands content down. A cut is a reset, which also takes what the device has not
    /// read yet.
    private func handDown(_ server: Int32, _ client: Int32) {
        var left = bytesMax
        var isInBody = false
        while true {
            var piece = Self.read(server)
            guard !piece.isEmpty else { break }
            let isCut = state.withLock { $0.cutsLeft > 0 } && piece.count >= left
            if isCut { piece = Array(piece.prefix(left)) }
            guard (try? Client.send(client, piece)) != nil else { break }
            left -= piece.count
            let body = isInBody ? piece.count : piece.count - Self.headBytes(piece)
            isInBody = true
            state.withLock { $0.bodyBytes += body }
            guard !isCut else {
                state.withLock { $0.cutsLeft -= 1 }
                var reset = linger(l_onoff: 1, l_linger: 0)
                setsockopt(
                    client, SOL_SOCKET, SO_LINGER, &reset, socklen_t(MemoryLayout<linger>.size))
                break
            }
        }
        // Ends the other direction, which closes both.
        shutdown(client, Int32(SHUT_RD))
        shutdown(server, Int32(SHUT_RDWR))
    }

    private static func headBytes(_ piece: [UInt8]) -> Int {
        Data(piece).range(of: Data("\r\n\r\n".utf8))?.upperBound ?? 0
    }

    private static func hand(_ from: Int32, _ to: Int32) {
        while true {
            let piece = read(from)
            guard !piece.isEmpty, (try? Client.send(to, piece)) != nil else { break }
        }
        shutdown(to, Int32(SHUT_WR))
    }

    private static func read(_ socket: Int32) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 65_536) { buffer, count in
            count = max(recv(socket, buffer.baseAddress, buffer.count, 0), 0)
        }
    }
}
