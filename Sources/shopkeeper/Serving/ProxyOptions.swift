// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import LedgerFile
import ShopServer
import StoreWire

/// How others reach a server: through a proxy that ends TLS.
struct ProxyOptions: ParsableArguments {
    @Option(
        name: .long,
        help: """
            An address or network (10.0.0.0/8) of the proxies that end TLS; repeatable. \
            Clients other than these and this machine are refused.
            """)
    var behindProxy: [String] = []

    @Option(name: .long, help: "The https address under which others reach the server.")
    var publicUrl: String?

    /// Whether others can reach the server.
    var isOpen: Bool { !behindProxy.isEmpty }

    @Flag(
        name: .long,
        help: "Allow networks as wide as 0.0.0.0/0; only if no stranger can reach the port.")
    var behindAnyProxy = false

    /// Returns the options, with a file's settings where an option is not given.
    func filled(from settings: LedgerSettings) -> ProxyOptions {
        var filled = self
        if behindProxy.isEmpty { filled.behindProxy = settings.behindProxy }
        filled.publicUrl = publicUrl ?? settings.publicURL
        filled.behindAnyProxy = behindAnyProxy || settings.behindAnyProxy ?? false
        return filled
    }

    func configuration(host: String, port: Int) throws -> ShopServerConfiguration {
        var configuration = try ShopServerConfiguration(
            host: host, port: port, proxies: try proxies())
        configuration.reach(at: try url())
        return configuration
    }

    func proxies() throws -> TrustedProxies? {
        guard isOpen else { return nil }
        guard let proxies = TrustedProxies(behindProxy) else {
            throw Failure(
                .usage, "proxyInvalid", "A proxy's address is not valid.", field: "--behind-proxy",
                rule: "an address such as 10.0.0.7 or fd00::7, or a network such as 10.0.0.0/8",
                remedy: "name the addresses that the proxies connect from")
        }
        guard !proxies.trustStrangers || behindAnyProxy else {
            throw Failure(
                .usage, "proxyAnybody",
                "Any client that reaches the port could claim another address, and HTTPS.",
                field: "--behind-proxy",
                rule: "a network of at least 8 bits (IPv4) or 16 bits (IPv6)",
                remedy: "name the proxies' own addresses; if only they can reach the port, add "
                    + "--behind-any-proxy")
        }
        return proxies
    }

    /// The URL for others. Nil if it is the server's own address.
    func url() throws -> String? {
        guard let publicUrl else { return nil }
        let parts = URLComponents(string: publicUrl)
        guard parts?.scheme == "https", parts?.host?.isEmpty == false, parts?.user == nil,
            parts?.query == nil, parts?.fragment == nil
        else {
            throw Failure(
                .usage, "publicUrlInvalid", "The server cannot be reached at \(publicUrl).",
                field: "--public-url", rule: "an https address without user, query and fragment",
                remedy: "give the proxy's address, such as https://store.example")
        }
        return publicUrl.hasSuffix("/") ? String(publicUrl.dropLast()) : publicUrl
    }
}
