// SPDX-License-Identifier: Apache-2.0

public import StoreWire

/// Selects the realm of a request, from values alone. The first of these that
/// names a realm selects it: the prefix `/realms/NAME`, the requested host, the
/// port. If none does, it is the realm that owns the server key in the request,
/// or else the default realm.
///
/// ```swift
/// let route = try RealmRoute(hosts: ["test.store.example": "test"])
/// route.realm(prefix: nil, host: "test.store.example", listener: nil)  // "test"
/// ```
public struct RealmRoute: Hashable, Sendable {
    /// The realm of each host. Hosts are in lower case and without a port.
    private let hosts: [String: String]

    /// Uses prefixes and ports only.
    public init() { hosts = [:] }

    /// - Parameter hosts: The realm of each host. Throws ``WireError``
    ///   `realmHostInvalid`.
    public init(hosts: [String: String]) throws(WireError) {
        for host in hosts.keys where !Self.isHost(host) {
            throw WireError(
                code: "realmHostInvalid", message: "`\(host)` is not a host name.", field: "host",
                rule: "a name such as test.store.example, lower case, without a port",
                remedy: "name the host as devices ask for it")
        }
        self.hosts = hosts
    }

    /// The hosts that select realms.
    var names: [String] { Array(hosts.keys) }

    /// Returns the realm's name, or nil if nothing selects one.
    ///
    /// - Parameters:
    /// - host: The requested host, as a trusted proxy reports it if there is
    /// one. - listener: The realm on whose own port the request arrived.
    public func realm(prefix: String?, host: String?, listener: String?) -> String? {
        prefix ?? host.flatMap { hosts[Self.plain($0)] } ?? listener
    }

    /// Returns the canonical form of a host: `store.example` for
    /// `Store.Example.`.
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
