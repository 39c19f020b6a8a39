// SPDX-License-Identifier: Apache-2.0

import Commerce
import Crypto
import Foundation
import SignedData
import StoreWire

/// Signing and verifying against the bare cryptography under them.
struct SignatureBench {
    let iterations = 1500
    let pairs = 9

    private let authority: CertificateAuthority
    private let payload: JWSTransactionDecodedPayload
    private let compact: String

    init() throws {
        authority = try CertificateAuthority.make(.sandbox)
        payload = Self.transaction()
        compact = try authority.transactions.sign(payload)
    }

    func run() throws -> [Pairs] {
        [try verifyingBytes(), try verifyingAndDecoding(), try signing()]
    }

    /// A warm verification is one P-256 check and little else.
    private func verifyingBytes() throws -> Pairs {
        progress("verifying, bytes")
        let verifier = JWSVerifier(roots: [authority.root])
        let at = Timestamp(milliseconds: 1_790_000_000_000)
        let bare = try BareCheck(compact)
        var figure = Pairs("warm JWS verification, bytes / bare P-256 check", atLeast: 0.9)
        for _ in 0..<pairs {
            let bareTime = try seconds { for _ in 0..<iterations { try bare.check() } }
            let ourTime = try seconds {
                for _ in 0..<iterations { _ = try verifier.verifyBytes(compact, at: at) }
            }
            figure.add(bare: bareTime, ours: ourTime)
        }
        return figure
    }

    private func verifyingAndDecoding() throws -> Pairs {
        progress("verifying and decoding")
        let verifier = TransactionVerifier(
            roots: [authority.root], bundleID: "com.example.app", environment: .sandbox)
        let bare = try BareCheck(compact)
        var figure = Pairs("warm JWS verification, decoded / bare P-256 check", atLeast: 0.75)
        for _ in 0..<pairs {
            let bareTime = try seconds { for _ in 0..<iterations { try bare.check() } }
            let ourTime = try seconds {
                for _ in 0..<iterations { _ = try verifier.verify(compact, now: nil) }
            }
            figure.add(bare: bareTime, ours: ourTime)
        }
        return figure
    }

    private func signing() throws -> Pairs {
        progress("signing")
        let key = P256.Signing.PrivateKey()
        let bytes = Array(compact.utf8)
        var figure = Pairs("JWS signing / bare P-256 signature of as many bytes", atLeast: 0.6)
        for _ in 0..<pairs {
            let bareTime = try seconds {
                for _ in 0..<iterations { _ = try key.signature(for: bytes) }
            }
            let ourTime = try seconds {
                for _ in 0..<iterations { _ = try authority.transactions.sign(payload) }
            }
            figure.add(bare: bareTime, ours: ourTime)
        }
        return figure
    }

    /// Apple's library for Python beside ours, in the same run; nil where the
    /// peers are not installed.
    func beside(python: String, script: String) throws -> Pairs? {
        progress("verifying with the library for Python")
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("bench-\(getpid())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data(authority.root).write(to: folder.appendingPathComponent("root.der"))
        try Data(compact.utf8).write(to: folder.appendingPathComponent("transaction.jws"))
        let verifier = TransactionVerifier(
            roots: [authority.root], bundleID: "com.example.app", environment: .sandbox)
        var figure = Pairs("ours / the official Python library, verified and decoded", atLeast: nil)
        for _ in 0..<Pairs.pairsMin {
            guard let theirs = try secondsInPython(python, script, folder) else { return nil }
            let ours = try seconds {
                for _ in 0..<100 { _ = try verifier.verify(compact, now: nil) }
            }
            figure.add(bare: theirs, ours: ours)
        }
        return figure
    }

    private func secondsInPython(_ python: String, _ script: String, _ folder: URL) throws
        -> Double?
    {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: python)
        process.arguments = [script, folder.path, "100"]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let answer = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return Double(
            String(decoding: answer, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines))
    }

    private static func transaction() -> JWSTransactionDecodedPayload {
        var payload = JWSTransactionDecodedPayload()
        let date = Timestamp(milliseconds: 1_780_000_000_000)
        payload.transactionId = "2000000000042007"
        payload.originalTransactionId = "2000000000042007"
        payload.bundleId = "com.example.app"
        payload.productId = "com.example.app.coins"
        payload.purchaseDate = date
        payload.originalPurchaseDate = date
        payload.signedDate = date
        payload.quantity = 3
        payload.type = "Consumable"
        payload.appAccountToken = "7e3fb204-2f44-4c5b-9b1d-1d2f3a4b5c6d"
        payload.inAppOwnershipType = "PURCHASED"
        payload.environment = "Sandbox"
        payload.storefront = "USA"
        payload.storefrontId = "143441"
        payload.transactionReason = "PURCHASE"
        payload.price = 2970
        payload.currency = "USD"
        payload.appTransactionId = "4000000000000007"
        return payload
    }
}

/// The cryptography alone: the same bytes, the same key, nothing parsed.
private struct BareCheck {
    let key: P256.Signing.PublicKey
    let signature: P256.Signing.ECDSASignature
    let signed: [UInt8]

    init(_ compact: String) throws {
        let parts = compact.split(separator: ".")
        signed = Array("\(parts[0]).\(parts[1])".utf8)
        let header = try JSONSerialization.jsonObject(with: Self.bytes(parts[0])) as? [String: Any]
        guard let chain = header?["x5c"] as? [String], let leaf = Data(base64Encoded: chain[0]),
            let point = Self.publicPoint(leaf)
        else { throw ClientFailure("a JWS without a chain") }
        key = try P256.Signing.PublicKey(x963Representation: point)
        signature = try P256.Signing.ECDSASignature(rawRepresentation: Self.bytes(parts[2]))
    }

    func check() throws {
        guard key.isValidSignature(signature, for: signed) else {
            throw ClientFailure("the bare check failed")
        }
    }

    /// The uncompressed point behind the mark of a P-256 key: BIT STRING of 66 bytes.
    private static func publicPoint(_ certificate: Data) -> Data? {
        guard let mark = certificate.range(of: Data([0x03, 0x42, 0x00, 0x04])) else { return nil }
        return certificate[(mark.upperBound - 1)..<(mark.upperBound + 64)]
    }

    private static func bytes(_ text: Substring) -> Data {
        var standard = text.replacingOccurrences(of: "-", with: "+")
            .replacingOccurrences(of: "_", with: "/")
        while standard.count % 4 != 0 { standard += "=" }
        return Data(base64Encoded: standard) ?? Data()
    }
}
