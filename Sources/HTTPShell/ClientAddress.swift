// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// An address on the Internet: 4 bytes, or 16. Version 4 in version 6's
/// clothes (`::ffff:1.2.3.4`) is version 4.
package struct ClientAddress: Hashable, Sendable, CustomStringConvertible {
    let bytes: [UInt8]

    /// Nil for what is none in the usual spelling.
    package init?(_ text: String) {
        // An interface's name is no part of who somebody is.
        let bare = text.split(separator: "%", omittingEmptySubsequences: false).first.map(
            String.init)
        guard let bare, let bytes = Self.parse(bare, AF_INET, 4) ?? Self.parse(bare, AF_INET6, 16)
        else { return nil }
        let isMapped =
            bytes.count == 16 && bytes[..<10].allSatisfy { $0 == 0 } && bytes[10] == 0xFF
            && bytes[11] == 0xFF
        self.bytes = isMapped ? Array(bytes[12...]) : bytes
    }

    private static func parse(_ text: String, _ family: Int32, _ count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        return inet_pton(family, text, &bytes) == 1 ? bytes : nil
    }

    var isLoopback: Bool {
        bytes.count == 4 ? bytes[0] == 127 : bytes == [UInt8](repeating: 0, count: 15) + [1]
    }

    /// What counts as one client where attempts are counted: of version 6
    /// the network, for whoever has an address has 2^64.
    package var description: String {
        if bytes.count == 4 { return bytes.map(String.init).joined(separator: ".") }
        return stride(from: 0, to: 8, by: 2).map {
            String(UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]), radix: 16)
        }.joined(separator: ":") + "::/64"
    }
}

/// The proxies whose word is taken for who asks: addresses and networks.
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

    /// Whether a network is so wide that strangers are in it: of version 4 less
    /// than 8 bits of prefix, of version 6 less than 16.
    public var trustStrangers: Bool {
        networks.contains { $0.bits < ($0.bytes.count == 4 ? 8 : 16) }
    }

    /// `10.0.0.7`, `10.0.0.0/8`, `fd00::/8`; nil where one is none of these.
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

/// Who asks, and over what: read from the connection and, where that comes
/// from a trusted proxy, from what the proxy says.
package struct Approach: Hashable, Sendable {
    /// Nil where the connection does not tell.
    package var client: ClientAddress?
    /// The host that was asked for, without a port, lower case.
    package var host: String?
    /// The port on which the connection arrived.
    package var port: Int?
    /// The word for that port, where it is not the server's own.
    package var listener: String?
    /// Whether others may have read it on its way: it came neither from this
    /// machine nor over HTTPS through a trusted proxy.
    package var isExposed = false
    /// Whether it came through a trusted proxy, which told where from.
    var isProxied = false
    /// Host and port as they were asked for on this connection.
    var authority: String?
    /// How many `Host` lines there were.
    var hostCount = 1
    /// The site whose page asks, where a browser tells one.
    var origin: String?

    /// - Parameter header: the values of a header, in order, joined by commas.
    init(
        peer: ClientAddress?, port: Int?, authority: String?, proxies: TrustedProxies?,
        header: (String) -> String?
    ) {
        self.port = port
        client = peer
        self.authority = authority
        origin = header("Origin")
        host = authority.flatMap(Self.host)
        let forwarded = header("X-Forwarded-For")
        guard let proxies, let peer, proxies.contains(peer), let forwarded else {
            isExposed = peer?.isLoopback != true
            return
        }
        isProxied = true
        client = Self.client(forwarded, behind: peer, proxies)
        isExposed = Self.last(header("X-Forwarded-Proto"))?.lowercased() != "https"
        if let told = Self.last(header("X-Forwarded-Host")) { host = Self.host(told) }
    }

    /// The last address that no trusted proxy has: what stands before it was
    /// written by whoever asked. Where it is none, the proxy that passed it on.
    private static func client(
        _ forwarded: String, behind peer: ClientAddress, _ proxies: TrustedProxies
    ) -> ClientAddress {
        var known = peer
        for hop in forwarded.split(separator: ",").reversed().prefix(32) {
            guard let address = ClientAddress(trimmed(hop)) else { return known }
            known = address
            if !proxies.contains(address) { return address }
        }
        return known
    }

    private static func last(_ values: String?) -> String? {
        values?.split(separator: ",").last.map { trimmed($0) }
    }

    private static func trimmed(_ text: Substring) -> String {
        String(text.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }

    /// `[::1]:4780`, `store.example:443` and so on, without the port.
    static func host(_ authority: String) -> String? {
        let host: Substring
        if authority.first == "[" {
            guard let end = authority.firstIndex(of: "]") else { return nil }
            host = authority[authority.index(after: authority.startIndex)..<end]
        } else {
            host = authority.prefix { $0 != ":" }
        }
        return host.isEmpty || host.utf8.count > 253 ? nil : host.lowercased()
    }
}
