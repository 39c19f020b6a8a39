// SPDX-License-Identifier: Apache-2.0

/// Whom a client may call. The rule is applied to the very address that is
/// about to be connected to, whatever name led there and whenever it was
/// looked up, so a name that changes its meaning between check and use gains
/// nothing.
public struct AddressPolicy: Hashable, Sendable {
    /// Whether plain HTTP is spoken too.
    public let allowsPlainHTTP: Bool
    /// Whether loopback, private and other special addresses are called too,
    /// on any port.
    public let allowsPrivateAddresses: Bool

    /// For sandboxes: HTTP or HTTPS, to any address.
    public static let open = AddressPolicy(allowsPlainHTTP: true, allowsPrivateAddresses: true)
    /// For production: HTTPS to public addresses, on port 443 or one from 1024.
    public static let guarded = AddressPolicy(
        allowsPlainHTTP: false, allowsPrivateAddresses: false)
    /// HTTPS to any address: for services inside one's own network.
    public static let secure = AddressPolicy(
        allowsPlainHTTP: false, allowsPrivateAddresses: true)

    func allows(port: Int) -> Bool {
        allowsPrivateAddresses || port == 443 || (1024...65_535).contains(port)
    }

    func allows(_ address: IPAddress) -> Bool {
        allowsPrivateAddresses || address.isPublic
    }
}
