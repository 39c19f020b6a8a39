// SPDX-License-Identifier: Apache-2.0

import ForwardProxy
import Foundation
import Live
import StorageSQLite
import StoreWire
import Synchronization

/// What lets a command's clients reach the store under Apple's hosts: a forward
/// proxy, and a file with the certificates to trust.
struct Interception: Sendable {
    private let proxy: ForwardProxy
    /// The store's root, and this machine's roots.
    private let roots: String
    /// A file of ``WgetSettings``.
    private let wget: String
    private let allowsNetwork: Bool

    /// Starts the proxy beside a store that has a port with TLS. Writes the file
    /// of certificates into its data directory.
    static func start(_ run: RunFile, allowsNetwork: Bool) async throws -> Interception {
        let roots = run.data + "/intercept-roots.pem"
        try TrustedFile.write(roots, store: run.root)
        guard let plain = Place(run.url), let secure = run.tlsUrl.flatMap(Place.init) else {
            throw Failure(.bug, "bug", "The store that is to be reached has no port with TLS.")
        }
        let refused = RefusedHosts()
        let proxy = try await ForwardProxy.start { target in
            let answer = route(target, plain, secure, allowsNetwork: allowsNetwork)
            if case .refuse(let sentence) = answer, refused.isNew(target) {
                PrintQueue.log.add { Output.complain("shopkeeper: \(sentence)") }
            }
            return answer
        }
        let wget = run.data + "/intercept-wgetrc"
        let settings = WgetSettings(
            roots: roots, proxy: address(of: proxy),
            direct: direct(Live.environment, allowsNetwork: allowsNetwork))
        do {
            try TrustedFile.store(
                settings.file(after: ownWgetSettings(Live.environment)), as: wget, mode: 0o600)
        } catch {
            await proxy.stop()
            throw error
        }
        return Interception(
            proxy: proxy, roots: roots, wget: wget, allowsNetwork: allowsNetwork)
    }

    /// The settings that wget would read without ours. They may contain passwords.
    private static func ownWgetSettings(_ environment: [String: String]) -> Data? {
        let path = environment["WGETRC"] ?? environment["HOME"].map { $0 + "/.wgetrc" }
        return path.flatMap { FileManager.default.contents(atPath: $0) }
    }

    private static func address(of proxy: ForwardProxy) -> String {
        "http://127.0.0.1:\(proxy.port)"
    }

    func stop() async { await proxy.stop() }

    /// Where a request of the command goes.
    static func route(
        _ target: ForwardProxy.Target, _ plain: Place, _ secure: Place, allowsNetwork: Bool
    ) -> ForwardProxy.Route {
        guard OfficialHosts.environment(of: target.host) == nil else {
            switch (target.isTunnel, target.port) {
            case (true, 443): return .connect(host: secure.host, port: secure.port)
            case (_, 80): return .connect(host: plain.host, port: plain.port)
            default:
                return .refuse(
                    "The store answers for \(target.host) at the ports 443 and 80 only.")
            }
        }
        guard allowsNetwork else {
            return .refuse(
                "exec --intercept lets nothing out but requests to Apple's hosts, which the store "
                    + "answers: \(target.host) was refused. Add --allow-network to let it out.")
        }
        return .connect(host: target.host, port: target.port)
    }

    /// The variables by which common clients find the proxy and trust the store.
    /// `environment` is what the command would have without them.
    var variables: @Sendable ([String: String]) -> [String: String] {
        let (address, roots, wget, allowsNetwork) = (
            Self.address(of: proxy), roots, wget, allowsNetwork
        )
        return { environment in
            var variables: [String: String] = [:]
            for name in Self.proxyNames { variables[name] = address }
            for name in Self.rootsNames { variables[name] = roots }
            variables["WGETRC"] = wget
            let direct = Self.direct(environment, allowsNetwork: allowsNetwork)
            for name in ["no_proxy", "NO_PROXY"] { variables[name] = direct }
            // From Node.js 22.21 and 24.5 on.
            variables["NODE_USE_ENV_PROXY"] = "1"
            return variables
        }
    }

    private static let proxyNames = [
        "https_proxy", "HTTPS_PROXY", "http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY",
    ]

    private static let rootsNames = [
        // OpenSSL, and with it Ruby, Python's own library and httpx; Go.
        "SSL_CERT_FILE",
        // Python's requests, which Apple's library for Python uses.
        "REQUESTS_CA_BUNDLE",
        "HTTPLIB2_CA_CERTS", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "DENO_CERT",
        // Swift's URLSession on Android. On Linux it trusts the system's file alone.
        "URLSessionCertificateAuthorityInfoFile",
    ]

    /// The hosts that clients reach without the proxy: this machine. With a
    /// network also those that were excluded before, except where that would
    /// exclude Apple's.
    static func direct(_ environment: [String: String], allowsNetwork: Bool) -> String {
        let own = ["127.0.0.1", "localhost", "::1"]
        guard allowsNetwork else { return own.joined(separator: ",") }
        let known = (environment["no_proxy"] ?? environment["NO_PROXY"] ?? "")
            .split { $0 == "," || $0.isWhitespace }.map(String.init)
        let kept = known.filter { entry in
            let host = entry.lowercased().replacing(#/^([^:]*):[0-9]*$/#) { $0.1 }
            let name = host.drop { $0 == "*" || $0 == "." }
            return !name.isEmpty
                && !OfficialHosts.all.contains { $0 == name || $0.hasSuffix("." + name) }
        }
        return (kept + own).joined(separator: ",")
    }
}

/// Settings of wget. It reads no variable with certificates where it is built with GnuTLS,
/// and its own file counts more than variables.
struct WgetSettings {
    let roots: String
    let proxy: String
    /// The hosts that are reached without the proxy.
    let direct: String

    /// The last setting of a name counts.
    func file(after own: Data?) -> Data {
        let lines = [
            "", "ca_certificate = \(roots)", "use_proxy = on", "http_proxy = \(proxy)",
            "https_proxy = \(proxy)", "no_proxy = \(direct)", "",
        ]
        return (own ?? Data()) + Data(lines.joined(separator: "\n").utf8)
    }
}

extension Interception {
    /// A host and a port of the store.
    struct Place: Hashable, Sendable {
        let host: String
        let port: Int

        init(host: String, port: Int) {
            (self.host, self.port) = (host, port)
        }

        init?(_ url: String) {
            guard let parts = URLComponents(string: url), let host = parts.host,
                let port = parts.port
            else { return nil }
            self.host = host.trimmingCharacters(in: ["[", "]"])
            self.port = port
        }
    }
}

/// The hosts whose refusal was reported, so that each is reported once. A class,
/// because all connections share it.
private final class RefusedHosts: Sendable {
    private static let max = 64
    private let hosts = Mutex<Set<String>>([])

    func isNew(_ target: ForwardProxy.Target) -> Bool {
        hosts.withLock { $0.count < Self.max && $0.insert(target.host).inserted }
    }
}

/// A file with the certificates that clients trust: the store's root and this
/// machine's own, because most clients read one file only.
enum TrustedFile {
    /// Where systems keep them in one file.
    private static let places = [
        "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
        "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem",
    ]

    static func write(_ path: String, store root: String) throws {
        let own = FileManager.default.contents(atPath: root) ?? Data()
        let system = places.lazy.compactMap { FileManager.default.contents(atPath: $0) }.first
        try store(own + Data("\n".utf8) + (system ?? Data()), as: path, mode: 0o644)
    }

    static func store(_ contents: Data, as path: String, mode: UInt32) throws {
        do {
            try PrivateFiles.store([UInt8](contents), as: path, mode: mode)
        } catch {
            throw Failure(
                .taken, "fileUnwritable", "\(error)", field: "--data",
                remedy: "name a data directory that you may write in")
        }
    }
}
