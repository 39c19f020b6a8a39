// SPDX-License-Identifier: Apache-2.0

/// The addresses that a client may connect to. The rule is applied to the
/// address of each connection, whatever name was resolved and whenever. So a
/// name that changes its address between check and use gains nothing.
public struct AddressPolicy: Hashable, Sendable {
    /// Whether plain HTTP is allowed too.
    public let allowsPlainHTTP: Bool
    /// Whether loopback, private and other special addresses are allowed too,
    /// on any port.
    public let allowsPrivateAddresses: Bool

    /// For sandboxes: HTTP or HTTPS to any address.
    public static let open = AddressPolicy(allowsPlainHTTP: true, allowsPrivateAddresses: true)
    /// For production: HTTPS to public addresses, on port 443 or a port from
    /// 1024.
    public static let guarded = AddressPolicy(
        allowsPlainHTTP: false, allowsPrivateAddresses: false)
    /// For services in one's own network: HTTPS to any address.
    public static let secure = AddressPolicy(
        allowsPlainHTTP: false, allowsPrivateAddresses: true)

    func allows(port: Int) -> Bool {
        allowsPrivateAddresses || port == 443 || (1024...65_535).contains(port)
    }

    func allows(_ address: IPAddress) -> Bool {
        allowsPrivateAddresses || address.isPublic
    }
}
