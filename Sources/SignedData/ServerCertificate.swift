// SPDX-License-Identifier: Apache-2.0

public import Commerce
import Crypto
import SwiftASN1
import X509

/// The names and addresses at which clients reach a server with TLS.
public struct ServerNames: Hashable, Sendable {
    /// Names of hosts, in lower case.
    public let hosts: [String]
    /// IP addresses as 4 or 16 bytes.
    public let addresses: [[UInt8]]

    public init(hosts: [String], addresses: [[UInt8]]) {
        self.hosts = hosts
        self.addresses = addresses
    }

    /// Those of this machine itself: `localhost`, 127.0.0.1 and ::1.
    public static let loopback = ServerNames(
        hosts: ["localhost"],
        addresses: [[127, 0, 0, 1], [UInt8](repeating: 0, count: 15) + [1]])

    /// Returns the same with further names of hosts.
    public func adding(hosts more: [String]) -> ServerNames {
        ServerNames(hosts: hosts + more, addresses: addresses)
    }
}

/// A certificate for a server with TLS, with its private key. Clients that trust
/// the authority's root accept it.
public struct ServerCertificate: Sendable {
    /// The certificate and its issuer, PEM. The root is not in it.
    public let chainPEM: String
    /// PKCS#8 PEM. Secret: it stays in the process that serves.
    public let keyPEM: String
}

extension CertificateAuthority {
    /// Issues a certificate for a server, with a new key. It is valid for 820
    /// days from `now`, which is wall time. It is not in ``issued``, and its
    /// status cannot be asked for.
    public func serverCertificate(
        for names: ServerNames, _ kind: AuthorityKind, now: Timestamp
    ) throws -> ServerCertificate {
        let key = P256.Signing.PrivateKey()
        let issuer = CertificateIssuer(kind: kind, statusURL: nil)
        let certificate = try issuer.server(
            Certificate.PublicKey(key.publicKey), for: names, now: now, from: certificates[1],
            keys.intermediate)
        let chain = try [certificate, certificates[1]].map {
            try $0.serializeAsPEM().pemString
        }
        return ServerCertificate(
            chainPEM: chain.joined(separator: "\n") + "\n", keyPEM: key.pemRepresentation)
    }
}
