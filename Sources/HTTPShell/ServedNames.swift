// SPDX-License-Identifier: Apache-2.0

/// The host names under which a server answers. A web page can bind its own
/// name to the address 127.0.0.1 and then send requests to this server on
/// behalf of the person who views it. So names that are not configured are
/// rejected.
public struct ServedNames: Hashable, Sendable {
    private var names: Set<String> = []
    /// Whether requests through a trusted proxy must use these names too. Only
    /// if the operator has configured the name under which the proxy is
    /// reached.
    public var coversProxies = false

    public init() {}

    /// Adds a name or an address, without a port.
    public mutating func add(_ name: String) { names.insert(Self.plain(name)) }

    /// Whether the server answers under a name: this machine's own, or an added
    /// one.
    func contains(_ host: String) -> Bool {
        let name = Self.plain(host)
        return name == "localhost" || name.hasSuffix(".localhost")
            || ClientAddress(name)?.isLoopback == true || names.contains(name)
    }

    /// Returns the canonical form of a host: `store.example` for
    /// `Store.Example.`.
    private static func plain(_ name: String) -> String {
        let low = name.lowercased()
        return low.last == "." ? String(low.dropLast()) : low
    }
}

extension ShellConfiguration {
    /// Rejects a request under a foreign name or from another site's page.
    /// Throws `hostInvalid`, `hostUnknown`, `forwardedInvalid` and
    /// `originForeign`. `isOpen`:
    /// whether a load balancer uses the address. It may send no host or the
    /// machine's own address.
    func check(_ approach: Approach, isOpen: Bool) throws(RequestMistake) {
        guard approach.hostCount < 2, !approach.isHostBroken else { throw .hostInvalid }
        if let field = approach.brokenHeader { throw .forwardedInvalid(field: field) }
        guard !isOpen else { return }
        guard let host = approach.host else { throw .hostInvalid }
        guard names.contains(host) || approach.isProxied && !names.coversProxies else {
            throw .hostUnknown
        }
        guard let origin = approach.origin else { return }
        guard Self.isSite(origin, of: approach) else { throw .originForeign }
    }

    /// Whether an origin is the requested site: the same host and, on this
    /// machine, where several servers share a host, the same port.
    private static func isSite(_ origin: String, of approach: Approach) -> Bool {
        guard let scheme = ["http://", "https://"].first(where: { origin.hasPrefix($0) }) else {
            return false
        }
        let authority = origin.dropFirst(scheme.count).lowercased()
        guard Approach.host(authority) == approach.host else { return false }
        return approach.isProxied || authority == approach.authority?.lowercased()
    }
}
