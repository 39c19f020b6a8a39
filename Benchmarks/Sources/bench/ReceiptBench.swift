// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import SignedData
import _CryptoExtras

/// Receipts with 1, 100 and 1,000 purchases: made, verified and parsed,
/// against the bare RSA signature and check of the same bytes.
struct ReceiptBench {
    private let authority: CertificateAuthority
    private let key: _RSA.Signing.PrivateKey

    init() throws {
        authority = try CertificateAuthority.make(.sandbox)
        key = try _RSA.Signing.PrivateKey(keySize: .bits2048)
    }

    func run() throws -> (figures: [Pairs], notes: [String]) {
        var figures: [Pairs] = []
        var notes: [String] = []
        for count in [1, 100, 1000] {
            progress("receipts with \(count) purchases")
            let records = (0..<count).map { Self.purchase($0).encoded() }
            let receipt = try authority.receipts.sign(Self.header, records: records)
            notes.append("receipt with \(count) purchases: \(receipt.count) bytes")
            figures.append(try making(records, of: count))
            figures.append(try verifying(receipt, of: count))
        }
        return (figures, notes)
    }

    private func making(_ records: [[UInt8]], of count: Int) throws -> Pairs {
        let bytes = records.flatMap(\.self)
        var figure = Pairs("receipt of \(count) made / bare RSA signature", atLeast: nil)
        let times = max(20, 200 / count)
        for _ in 0..<9 {
            let bare = try seconds {
                for _ in 0..<times {
                    _ = try key.signature(for: bytes, padding: .insecurePKCS1v1_5)
                }
            }
            figure.add(
                bare: bare,
                ours: try seconds {
                    for _ in 0..<times {
                        _ = try authority.receipts.sign(Self.header, records: records)
                    }
                })
        }
        figure.perOperation = times
        return figure
    }

    private func verifying(_ receipt: [UInt8], of count: Int) throws -> Pairs {
        let verifier = ReceiptVerifier(roots: [authority.root])
        let signature = try key.signature(for: receipt, padding: .insecurePKCS1v1_5)
        var figure = Pairs("receipt of \(count) verified, parsed / bare RSA check", atLeast: nil)
        let times = max(20, 400 / count)
        for _ in 0..<9 {
            let bare = seconds {
                for _ in 0..<times {
                    _ = key.publicKey.isValidSignature(
                        signature, for: receipt, padding: .insecurePKCS1v1_5)
                }
            }
            figure.add(
                bare: bare,
                ours: try seconds {
                    for _ in 0..<times {
                        _ = try verifier.verify(receipt, bundleID: "com.example.app")
                    }
                })
        }
        figure.perOperation = times
        return figure
    }

    private static let date = Timestamp(milliseconds: 1_790_000_000_000)

    private static let header = ReceiptHeader(
        environment: "ProductionSandbox", bundleID: "com.example.app", appVersion: "1.0",
        device: [UInt8](repeating: 7, count: 16), opaque: [UInt8](repeating: 9, count: 16),
        creationDate: date)

    private static func purchase(_ number: Int) -> ReceiptPurchase {
        let id = String(2_000_000_000_000_000 + number)
        return ReceiptPurchase(
            quantity: 1, productID: "com.example.coins", transactionID: id, purchaseDate: date,
            type: .consumable)
    }
}
