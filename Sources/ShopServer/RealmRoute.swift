// SPDX-License-Identifier: Apache-2.0

public import StoreWire

/// Which realm a request means, decided by values alone. What names one most
/// plainly wins: the prefix `/realms/NAME`, then the host that was asked for,
/// then the port that was knocked at. Where none of them names one it is the
/// realm that owns the server key that asks, else the default realm.
///
/// ```swift
/// let route = try RealmRoute(hosts: ["test.store.example": "test"])
/// route.realm(prefix: nil, host: "test.store.example", listener: nil)  // "test"
/// ```
public struct RealmRoute: Hashable, Sendable {
    /// The realm of each host, lower case and without a port.
    private let hosts: [String: String]

    /// Only prefixes and ports name realms.
    public init() { hosts = [:] }

    /// - Parameter hosts: the realm of each host. Throws ``WireError``
    ///   `realmHostInvalid`.
    public init(hosts: [String: String]) throws(WireError) {
        for host in hosts.keys where !Self.isHost(host) {
            throw WireError(
                code: "realmHostInvalid", message: "`\(host)` is no host's name.", field: "host",
                rule: "a name such as test.store.example, lower case, without a port",
                remedy: "name the host as devices ask for it")
        }
        self.hosts = hosts
    }

    /// The hosts that name realms.
    var names: [String] { Array(hosts.keys) }

    /// The realm's name; nil where nothing names one.
    ///
    /// - Parameters:
    ///   - host: what was asked for, as a trusted proxy tells it where one stands before.
    ///   - listener: the realm whose own port the request came in at.
    public func realm(prefix: String?, host: String?, listener: String?) -> String? {
        prefix ?? host.flatMap { hosts[Self.plain($0)] } ?? listener
    }

    /// One host, one spelling: `Store.Example.` is `store.example`.
    private static func plain(_ host: String) -> String {
        let low = host.lowercased()
        return low.last == "." ? String(low.dropLast()) : low
    }

    private static func isHost(_ host: String) -> Bool {
        (1...253).contains(host.utf8.count) && host == plain(host)
            && host.utf8.allSatisfy {
                (97...122).contains($0) || (48...57).contains($0)
                    || [UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: ":")].contains($0)
            }
    }
}
