// SPDX-License-Identifier: Apache-2.0

import NIOHTTP1

/// What a request line asks a proxy for.
enum ProxyRequest: Equatable {
    case tunnel(ForwardProxy.Target)
    /// One plain request, with the address to ask for there and the `Host` line.
    case plain(ForwardProxy.Target, path: String, authority: String)
    /// Not a request to a proxy, with one sentence.
    case wrong(String)

    private static let hostBytesMax = 253

    init(_ head: HTTPRequestHead) {
        guard head.method != .CONNECT else {
            guard let (host, port) = Self.parts(head.uri[...]), let port else {
                self = .wrong("CONNECT names a host and a port, such as shop.example:443.")
                return
            }
            self = .tunnel(.init(host: host, port: port, isTunnel: true))
            return
        }
        guard head.uri.lowercased().hasPrefix("http://") else {
            self = .wrong(
                "This is a proxy: ask it with CONNECT, or for an address that begins with "
                    + "http://.")
            return
        }
        let rest = head.uri.dropFirst("http://".count)
        let authority = rest.prefix { !"/?#".contains($0) }
        guard let (host, port) = Self.parts(authority) else {
            self = .wrong("The address names no host.")
            return
        }
        let path = rest[authority.endIndex...].prefix { $0 != "#" }
        self = .plain(
            .init(host: host, port: port ?? 80, isTunnel: false),
            path: path.hasPrefix("/") ? String(path) : "/" + path, authority: String(authority))
    }

    /// Returns the host and the port of `shop.example:443`, `[::1]:443` and so
    /// on. Nil for any other text, such as one with a user's name.
    private static func parts(_ text: Substring) -> (host: String, port: Int?)? {
        var name = text
        var port: Int?
        let isIPv6 = text.first == "["
        if let colon = text.lastIndex(of: ":"), !isIPv6 || text[..<colon].last == "]" {
            let digits = text[text.index(after: colon)...]
            guard digits.utf8.allSatisfy({ (48...57).contains($0) }), let number = Int(digits),
                (1...65_535).contains(number)
            else { return nil }
            (name, port) = (text[..<colon], number)
        }
        if isIPv6 {
            guard name.last == "]" else { return nil }
            name = name.dropFirst().dropLast()
        }
        var host = name.lowercased()
        if host.last == "." { host.removeLast() }
        guard (1...hostBytesMax).contains(host.utf8.count),
            host.utf8.allSatisfy({ isHostByte($0) || isIPv6 && $0 == UInt8(ascii: ":") })
        else { return nil }
        return (host, port)
    }

    private static func isHostByte(_ byte: UInt8) -> Bool {
        (48...57).contains(byte) || (97...122).contains(byte)
            || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "_")
    }
}

extension HTTPRequestHead {
    /// The lines that are about one connection only (RFC 9110, 7.6.1).
    private static let hopByHop = [
        "Connection", "Proxy-Connection", "Keep-Alive", "Proxy-Authorization", "TE", "Upgrade",
        "Host",
    ]

    /// Returns the request that the proxy sends on. The connection ends with its
    /// answer.
    func forwarded(path: String, authority: String) -> HTTPRequestHead {
        var head = HTTPRequestHead(version: .http1_1, method: method, uri: path, headers: headers)
        let named = headers[canonicalForm: "Connection"]
        for name in named.map(String.init) + Self.hopByHop { head.headers.remove(name: name) }
        head.headers.add(name: "Host", value: authority)
        head.headers.add(name: "Connection", value: "close")
        return head
    }
}
