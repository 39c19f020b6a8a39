// SPDX-License-Identifier: Apache-2.0

public import HTTPShell
import NIOCore
import NIOSSL

/// Makes a port of a server one with TLS. The only place that knows a TLS
/// library: a command that is built without the trait `TLS` does not have it.
///
/// ```swift
/// configuration.secure = try SecurePort.listener(
///     port: 8443, chainPEM: certificate.chainPEM, keyPEM: certificate.keyPEM)
/// ```
public enum SecurePort {
    /// Returns a listener with TLS 1.2 and 1.3, for HTTP/1.1. `port`: 0 selects a
    /// free one. `chainPEM`: the server's certificate and those that lead to the
    /// root. `keyPEM`: its private key. Throws `NIOSSLError` if they are not PEM
    /// or do not match, and `WireError` `portInvalid`.
    public static func listener(
        port: Int, chainPEM: String, keyPEM: String
    ) throws -> ShellConfiguration.SecureListener {
        let chain = try NIOSSLCertificate.fromPEMBytes(Array(chainPEM.utf8))
        let key = try NIOSSLPrivateKey(bytes: Array(keyPEM.utf8), format: .pem)
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = ["http/1.1"]
        let context = try NIOSSLContext(configuration: configuration)
        return try ShellConfiguration.SecureListener(port: port) { channel in
            try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
        }
    }
}
