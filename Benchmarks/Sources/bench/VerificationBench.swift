// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import SignedData

/// A receipt with many purchases, verified by us, by `openssl cms -verify`
/// and by an independent library for Python, in one run: a genuine one with
/// 187 purchases where SHOPKEEPER_CORPUS names the folder that has it, else
/// one of ours with as many.
struct VerificationBench {
    private static let genuine = "receipts/tikhop__TPInAppReceipt__receipt-sandbox-legacy"
    private static let purchases = 187
    private static let pairs = 9
    /// How many verifications one measurement is.
    private static let times = 10

    let python: String

    func run() throws -> (figures: [Pairs], notes: [String]) {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("bench-verification-\(getpid())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (receipt, root, origin) = try Self.receipt(folder)
        try Data(receipt).write(to: folder.appendingPathComponent("receipt.der"))
        try Data(root).write(to: folder.appendingPathComponent("root.der"))
        try Self.openssl(
            ["x509", "-inform", "DER", "-in", "root.der", "-out", "root.pem"], in: folder)

        let verifier = ReceiptVerifier(roots: [root])
        let found = try verifier.verify(receipt, bundleID: nil).purchases.count
        var figures = [try besideOpenSSL(verifier, receipt, folder)]
        if let beside = try besidePython(verifier, receipt, folder) {
            figures.append(beside)
        } else {
            progress("no Python with the peers was named: its library is left out")
        }
        return (figures, ["\(origin): \(found) purchases, \(receipt.count) bytes"])
    }

    /// OpenSSL verifies chain and signature, and parses no purchase; it is
    /// started anew for each receipt, which is told.
    private func besideOpenSSL(
        _ verifier: ReceiptVerifier, _ receipt: [UInt8], _ folder: URL
    ) throws -> Pairs {
        var figure = Pairs(
            "ours, parsed too / openssl cms -verify, a process each", atLeast: nil)
        for number in 1...Self.pairs {
            progress("receipts beside openssl, pair \(number) of \(Self.pairs)")
            let theirs = try seconds {
                for _ in 0..<Self.times {
                    try Self.openssl(
                        [
                            "cms", "-verify", "-inform", "DER", "-in", "receipt.der", "-CAfile",
                            "root.pem", "-purpose", "any", "-no_check_time", "-auth_level", "0",
                            "-out", "/dev/null",
                        ], in: folder)
                }
            }
            figure.add(bare: theirs, ours: try ours(verifier, receipt))
        }
        figure.perOperation = Self.times
        return figure
    }

    /// Nil where the peers are not installed.
    private func besidePython(
        _ verifier: ReceiptVerifier, _ receipt: [UInt8], _ folder: URL
    ) throws -> Pairs? {
        guard !python.isEmpty else { return nil }
        var figure = Pairs("ours / apple-purchase-receipt-verifier, warm", atLeast: nil)
        for number in 1...Self.pairs {
            progress("receipts beside the library for Python, pair \(number) of \(Self.pairs)")
            let answer = try Command.run(
                python, "Benchmarks/verify_receipt.py", folder.path, "\(Self.times)")
            guard let theirs = answer.split(separator: " ").first.flatMap({ Double($0) }) else {
                throw ClientFailure("the library for Python verified no receipt: \(answer)")
            }
            figure.add(bare: theirs, ours: try ours(verifier, receipt))
        }
        figure.perOperation = Self.times
        return figure
    }

    private func ours(_ verifier: ReceiptVerifier, _ receipt: [UInt8]) throws -> Double {
        try seconds {
            for _ in 0..<Self.times { _ = try verifier.verify(receipt, bundleID: nil) }
        }
    }

    // MARK: The receipt

    private static func receipt(
        _ folder: URL
    ) throws -> (receipt: [UInt8], root: [UInt8], origin: String) {
        let corpus = ProcessInfo.processInfo.environment["SHOPKEEPER_CORPUS"]
        guard let corpus,
            let text = try? Data(
                contentsOf: URL(fileURLWithPath: corpus).appendingPathComponent(genuine)),
            let receipt = Data(base64Encoded: text, options: .ignoreUnknownCharacters)
        else { return try made() }
        let file = folder.appendingPathComponent("genuine.der")
        try receipt.write(to: file)
        let certificates = try Command.run(
            "openssl", "pkcs7", "-inform", "DER", "-in", file.path, "-print_certs")
        guard
            let last = certificates.components(separatedBy: "-----BEGIN CERTIFICATE-----").last,
            let base64 = last.components(separatedBy: "-----END").first,
            let root = Data(base64Encoded: base64, options: .ignoreUnknownCharacters)
        else { throw ClientFailure("the genuine receipt carries no certificates") }
        return (Array(receipt), Array(root), "a genuine receipt")
    }

    private static func made() throws -> (receipt: [UInt8], root: [UInt8], origin: String) {
        let authority = try CertificateAuthority.make(.sandbox)
        let date = Timestamp(milliseconds: 1_790_000_000_000)
        let header = ReceiptHeader(
            environment: "ProductionSandbox", bundleID: "com.example.app", appVersion: "1.0",
            device: [UInt8](repeating: 7, count: 16), opaque: [UInt8](repeating: 9, count: 16),
            creationDate: date)
        let records = (0..<purchases).map { number in
            ReceiptPurchase(
                quantity: 1, productID: "com.example.coins",
                transactionID: String(2_000_000_000_000_000 + number), purchaseDate: date,
                type: .consumable
            ).encoded()
        }
        return (
            try authority.receipts.sign(header, records: records), authority.root,
            "a receipt of ours (SHOPKEEPER_CORPUS names no folder with a genuine one)"
        )
    }

    // MARK: Processes

    private static func openssl(_ arguments: [String], in folder: URL) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["openssl"] + arguments
        process.currentDirectoryURL = folder
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw ClientFailure("openssl \(arguments[0]) ended with \(process.terminationStatus)")
        }
    }
}
