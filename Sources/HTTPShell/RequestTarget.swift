// SPDX-License-Identifier: Apache-2.0

/// What a request line names: an address on this server, with or without the
/// server's own name before it.
enum RequestTarget {
    /// Returns the host and port of an absolute address, such as
    /// `http://store.example:80/ready`. Nil for any other target. It replaces
    /// the `Host` line (RFC 9112, 3.2.2).
    static func authority(of target: String) -> String? {
        guard target.utf8.first != UInt8(ascii: "/"),
            let scheme = schemes.first(where: { target.lowercased().hasPrefix($0) })
        else { return nil }
        let rest = target.utf8.dropFirst(scheme.utf8.count)
        return String(Substring(rest.prefix { !ends.contains($0) }))
    }

    private static let schemes = ["http://", "https://"]
    private static let ends = Array("/?#".utf8)

    /// Whether a target is a path, or the `*` of a question about the server
    /// itself. Then the `Host` line names the host.
    static func isPath(_ target: String) -> Bool {
        target.utf8.first == UInt8(ascii: "/") || target == "*"
    }

    /// Whether all `%xx` in path and query encode UTF-8 without a zero byte.
    static func isText(_ target: String) -> Bool {
        PercentEncoding.decode(target).map { !$0.utf8.contains(0) } ?? false
    }

    /// The name of a query's first parameter that comes twice: one reader would
    /// take the first value, another the last. Nil if there is none.
    static func doubledParameter(_ query: String) -> String? {
        var seen: Set<String> = []
        for pair in query.utf8.split(separator: UInt8(ascii: "&")) {
            let raw = String(Substring(pair.prefix { $0 != UInt8(ascii: "=") }))
            let name = PercentEncoding.decode(raw) ?? raw
            if !seen.insert(name).inserted { return name }
        }
        return nil
    }
}
