// SPDX-License-Identifier: Apache-2.0

import NIOCore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// An IPv4 address (4 bytes) or IPv6 address (16 bytes). An embedded IPv4
/// address (`::ffff:1.2.3.4`) counts as IPv4.
package struct ClientAddress: Hashable, Sendable, CustomStringConvertible {
    let bytes: [UInt8]

    /// Nil if the text is not an address in its usual notation.
    package init?(_ text: String) {
        // The name of a network interface does not identify a client.
        let bare = text.split(separator: "%", omittingEmptySubsequences: false).first.map(
            String.init)
        guard let bare, let bytes = Self.parse(bare, AF_INET, 4) ?? Self.parse(bare, AF_INET6, 16)
        else { return nil }
        let isMapped =
            bytes.count == 16 && bytes[..<10].allSatisfy { $0 == 0 } && bytes[10] == 0xFF
            && bytes[11] == 0xFF
        self.bytes = isMapped ? Array(bytes[12...]) : bytes
    }

    /// The address of a connection's other end. Nil for sockets of this machine that have none.
    init?(_ address: SocketAddress?) {
        guard let text = address?.ipAddress else { return nil }
        self.init(text)
    }

    private static func parse(_ text: String, _ family: Int32, _ count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        return inet_pton(family, text, &bytes) == 1 ? bytes : nil
    }

    var isLoopback: Bool {
        bytes.count == 4 ? bytes[0] == 127 : bytes == [UInt8](repeating: 0, count: 15) + [1]
    }

    /// The text that identifies a client when attempts are counted. For IPv6 it
    /// is the network, because the owner of one address has 2^64 of them.
    package var description: String {
        if bytes.count == 4 { return bytes.map(String.init).joined(separator: ".") }
        return stride(from: 0, to: 8, by: 2).map {
            String(UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]), radix: 16)
        }.joined(separator: ":") + "::/64"
    }
}

/// The proxies whose headers about the client are trusted: addresses and
/// networks.
public struct TrustedProxies: Hashable, Sendable {
    private struct Network: Hashable, Sendable {
        let bytes: [UInt8]
        let bits: Int

        func contains(_ address: ClientAddress) -> Bool {
            guard address.bytes.count == bytes.count else { return false }
            return zip(address.bytes, bytes).enumerated().allSatisfy { index, pair in
                let kept = min(max(bits - index * 8, 0), 8)
                let mask = UInt8(truncatingIfNeeded: 0xFF << (8 - kept))
                return pair.0 & mask == pair.1 & mask
            }
        }
    }

    private let networks: [Network]

    /// Whether a network is so wide that it contains strangers: less than 8
    /// bits of prefix for IPv4, less than 16 for IPv6.
    public var trustStrangers: Bool {
        networks.contains { $0.bits < ($0.bytes.count == 4 ? 8 : 16) }
    }

    /// Parses texts such as `10.0.0.7`, `10.0.0.0/8` and `fd00::/8`. Nil if one
    /// of them has another form.
    public init?(_ texts: [String]) {
        guard !texts.isEmpty else { return nil }
        var networks: [Network] = []
        for text in texts {
            let parts = text.split(separator: "/", omittingEmptySubsequences: false)
            guard parts.count <= 2, let address = ClientAddress(String(parts[0])) else {
                return nil
            }
            let most = address.bytes.count * 8
            let bits = parts.count == 2 ? Int(parts[1]) : most
            guard let bits, (0...most).contains(bits) else { return nil }
            networks.append(Network(bytes: address.bytes, bits: bits))
        }
        self.networks = networks
    }

    func contains(_ address: ClientAddress) -> Bool {
        networks.contains { $0.contains(address) }
    }
}

/// How a request reached the server and from which client. It is read from the
/// connection and, if that comes from a trusted proxy, from the proxy's
/// headers.
package struct Approach: Hashable, Sendable {
    /// Nil if the connection does not reveal it.
    package var client: ClientAddress?
    /// The requested host in lower case, without a port.
    package var host: String?
    /// The port on which the connection arrived.
    package var port: Int?
    /// The name of that port, if it is not the server's main one.
    package var listener: String?
    /// Whether others may have read the request on its way: it came neither
    /// from this machine nor over HTTPS through a trusted proxy.
    package var isExposed = false
    /// Whether it came through a trusted proxy, which reported the client.
    var isProxied = false
    /// Whether it came to the server's own port with TLS.
    var isEncrypted = false
    /// Whether the client speaks HTTPS, with the server or with a trusted proxy.
    package var isSecure: Bool { isEncrypted || isProxied && !isExposed }
    /// The requested host and port on this connection.
    var authority: String?
    /// Whether the `Host` line, or the address in its place, is something else
    /// than one host and at most one port.
    var isHostBroken = false
    /// The name of a trusted proxy's header that makes no sense.
    var brokenHeader: String?
    /// The number of `Host` lines.
    var hostCount = 1
    /// The site of the web page that made the request, if a browser reports it.
    var origin: String?

    /// - Parameter header: Returns the values of a header, in order, joined by
    ///   commas.
    init(
        peer: ClientAddress?, port: Int?, authority: String?, proxies: TrustedProxies?,
        header: (ShellHeader) -> String?
    ) {
        self.port = port
        client = peer
        self.authority = authority
        origin = header(.origin)
        host = authority.flatMap(Self.host)
        isHostBroken = host == nil && authority?.isEmpty == false
        let forwarded = header(.forwardedFor)
        guard let proxies, let peer, proxies.contains(peer), let forwarded else {
            isExposed = peer?.isLoopback != true
            return
        }
        isProxied = true
        client = Self.client(forwarded, behind: peer, proxies)
        if client == nil { brokenHeader = ShellHeader.forwardedFor.rawValue }
        isExposed = one(.forwardedProto, header)?.lowercased() != "https"
        if let told = one(.forwardedHost, header) { host = Self.host(told) }
    }

    /// Returns the last address that does not belong to a trusted proxy,
    /// because the client may have written everything before it. Nil if that is
    /// not an address. A trusted proxy writes one.
    private static func client(
        _ forwarded: String, behind peer: ClientAddress, _ proxies: TrustedProxies
    ) -> ClientAddress? {
        var known = peer
        for hop in forwarded.split(separator: ",", omittingEmptySubsequences: false).reversed()
            .prefix(32)
        {
            guard let address = ClientAddress(trimmed(hop)) else { return nil }
            known = address
            if !proxies.contains(address) { return address }
        }
        return known
    }

    /// Returns the value of a header. Records a header with several values: one
    /// may be the client's.
    private mutating func one(
        _ name: ShellHeader, _ header: (ShellHeader) -> String?
    ) -> String? {
        let values = header(name)?.split(separator: ",", omittingEmptySubsequences: false) ?? []
        if values.count > 1 { brokenHeader = brokenHeader ?? name.rawValue }
        return values.last.map { Self.trimmed($0) }
    }

    private static func trimmed(_ text: Substring) -> String {
        String(text.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }

    /// Returns the host of `[::1]:4780`, `store.example:443` and so on, without
    /// the port.
    static func host(_ authority: String) -> String? { HostName(authority)?.host }
}
