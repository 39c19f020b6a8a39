// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPShell
import Shop
import SignedData
import StoreWire

#if TLS
    import SecurePort
#endif

/// The port with TLS of a served store. Its certificate is issued at each start
/// by the authority of sandboxes, so that clients that trust the root accept
/// it, and its key never leaves the process.
struct ServedTLS {
    let options: ServeOptions

    /// Throws before anything is opened, if there can be no such port.
    func check() throws {
        guard options.tlsPort != nil else { return }
        guard !options.proxy.isOpen else {
            throw Failure(
                .usage, "tlsTwice", "The proxy in front of this store ends TLS already.",
                field: "--tls-port", rule: "one of --tls-port and --behind-proxy",
                remedy: "leave one of them out")
        }
        #if !TLS
            throw Self.missing
        #endif
    }

    /// Returns the port. Nil if none was asked for.
    func listener(_ store: Store) async throws -> ShellConfiguration.SecureListener? {
        guard let port = options.tlsPort else { return nil }
        let certificate = try await store.serverCertificate(for: names)
        #if TLS
            do {
                return try SecurePort.listener(
                    port: port, chainPEM: certificate.chainPEM, keyPEM: certificate.keyPEM)
            } catch let error as WireError {
                throw Failure(
                    .usage, error.code, error.message, field: "--tls-port", rule: error.rule,
                    remedy: error.remedy)
            }
        #else
            _ = (port, certificate)
            throw Self.missing
        #endif
    }

    /// This machine's names, Apple's hosts, and the address that is listened at.
    private var names: ServerNames {
        let names = ServerNames.loopback.adding(hosts: OfficialHosts.all)
        let parts = options.host.split(separator: ".").compactMap { UInt8($0) }
        guard parts.count == 4, !names.addresses.contains(parts) else { return names }
        return ServerNames(hosts: names.hosts, addresses: names.addresses + [parts])
    }

    #if !TLS
        private static var missing: Failure {
            Failure(
                .unavailable, "tlsNotBuilt", "This shopkeeper was built without TLS.",
                field: "--tls-port", rule: "the package's trait TLS, which is on by default",
                remedy: "build it without --disable-default-traits, or put a proxy with TLS in "
                    + "front")
        }
    #endif
}
