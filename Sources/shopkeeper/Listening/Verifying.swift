// SPDX-License-Identifier: Apache-2.0

import Foundation
import SignedData
import Synchronization

/// The roots with which a listener verifies signatures: those in the given
/// files, otherwise those of the running store, once there is one.
final class Verifying: Sendable {
    private let store: StoreOptions
    private let files: [String]
    private let found = Mutex<JWSVerifier?>(nil)

    /// Throws if a file is not a certificate.
    init(files: [String], store: StoreOptions) throws {
        self.files = files
        self.store = store
        if !files.isEmpty {
            let roots = try files.map(Self.root)
            found.withLock { $0 = JWSVerifier(roots: roots) }
        }
    }

    /// Nil while no root is known.
    var verifier: JWSVerifier? { found.withLock { $0 } }

    /// Fetches the running store's roots if none are known yet.
    func look() async {
        guard verifier == nil, let roots = try? await Self.roots(of: store), !roots.isEmpty
        else { return }
        found.withLock { $0 = JWSVerifier(roots: roots) }
    }

    /// Returns the roots of the running store.
    static func roots(of store: StoreOptions) async throws -> [[UInt8]] {
        let door = try store.store().publicDoor
        var roots: [[UInt8]] = []
        for kind in ["sandbox", "production"] {
            guard let root = try? await door.bytes("/certificates/root?kind=\(kind)") else {
                continue
            }
            roots.append([UInt8](root))
        }
        return roots
    }

    /// The root certificate in a file.
    static func root(_ path: String) throws -> [UInt8] {
        guard let bytes = FileManager.default.contents(atPath: path) else {
            throw Failure(
                .input, "rootUnreadable", "\(path) cannot be read.", field: "--root",
                remedy: "name a file with one certificate")
        }
        do { return try RootCertificate.der(ofFile: [UInt8](bytes)) } catch {
            throw Failure(
                .input, "rootInvalid", "\(path) is no root certificate.", field: "--root",
                rule: error.message,
                remedy: "write one with `shopkeeper certificate root --output root.pem`")
        }
    }
}
