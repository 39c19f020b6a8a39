// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import SignedData
import StoreWire
import TestSupport
import Testing

@testable import Ledger

/// What is believed, and what is not.
@Suite(.unforgiven, .timeLimit(.minutes(5))) struct ProofTests {
    @Test func `another root, another app and another environment are refused`() async throws {
        let book = try await Book.open()

        let root = try await refusal { try await book.take(by: try Book.foreign()) }
        let app = try await refusal { try await book.take { $0.bundleId = "com.example.other" } }
        let none = try await refusal { try await book.take { $0.bundleId = nil } }
        let production = try await refusal { try await book.take { $0.environment = "Production" } }
        let odd = try await refusal { try await book.take { $0.environment = "sandbox" } }

        #expect(root == ["rootUntrusted", "signedTransaction"])
        #expect(app == ["bundleIdRefused", "bundleId"])
        #expect(none == ["bundleIdRefused", "bundleId"])
        #expect(production == ["environmentRefused", "environment"])
        #expect(odd == ["environmentRefused", "environment"])
        #expect(try await book.unspent().isEmpty)
    }

    @Test func `a sandbox's root proves nothing about production, and the other way`() async throws
    {
        let book = try await Book.open(environments: [.sandbox, .production])

        let forged = try await refusal { try await book.take { $0.environment = "Production" } }
        let odd = try await refusal { try await book.take(by: try Book.production()) }
        let genuine = try await book.take(2, by: try Book.production()) {
            $0.environment = "Production"
        }

        #expect(forged == ["environmentRefused", "environment"])
        #expect(odd == ["environmentRefused", "environment"])
        #expect(genuine.environment == "Production")
    }

    @Test func `no tampered transaction is booked`() async throws {
        let book = try await Book.open()
        let signed = Array(try Book.signed().utf8)
        var generator = SeededGenerator(4)

        for _ in 0..<300 {
            let harmed = Mutation.of(signed, using: &generator)
            guard harmed != signed else { continue }
            let text = String(decoding: harmed, as: UTF8.self)
            let told = try await refusal {
                try await book.ledger.take(
                    TakePurchaseRequest(signedTransaction: text, account: "blob"))
            }
            #expect(told != nil, "\(text)")
        }

        #expect(try await book.unspent().isEmpty)
    }

    @Test func `production is dated by the wall, a sandbox is not`() async throws {
        let book = try await Book.open(environments: [.sandbox, .production])
        let tomorrow = Book.now.adding(seconds: 86_400)

        let early = try await refusal {
            try await book.take(by: try Book.production()) {
                $0.environment = "Production"
                $0.signedDate = tomorrow
            }
        }
        let sandbox = try await refusal { try await book.take(2) { $0.signedDate = tomorrow } }

        #expect(early == ["proofInvalid", "signedTransaction"])
        #expect(sandbox == nil)
    }

    @Test(
        arguments: [
            FieldChange("transactionId") { $0.transactionId = nil },
            FieldChange("productId") { $0.productId = nil },
            FieldChange("type") { $0.type = nil },
            FieldChange("purchaseDate") { $0.purchaseDate = nil },
            FieldChange("quantity") { $0.quantity = 0 },
            FieldChange("quantity") { $0.quantity = 10_001 },
            FieldChange("quantity") { $0.quantity = -1 },
        ])
    func `a transaction with a missing field is refused`(
        change: FieldChange
    ) async throws {
        let book = try await Book.open()

        let told = try await refusal { try await book.take(account: "blob") { change.make(&$0) } }

        #expect(told == ["transactionIncomplete", change.field])
    }

    @Test(arguments: ["", "a\u{0}b", String(repeating: "a", count: 256)])
    func `words that no book can hold are refused`(word: String) async throws {
        let book = try await Book.open()

        #expect(try await refusal { try await book.take(account: word) }?.first == "textInvalid")
        #expect(
            try await refusal { try await book.take { $0.productId = word } }?.first
                == "textInvalid")
        #expect(
            try await refusal { try await book.ledger.unspent(account: word) }?.first
                == "textInvalid")
        #expect(
            try await refusal { try await book.redeem(word) } == ["textInvalid", "idempotencyKey"])
    }

    @Test func `a configuration that can believe nothing is refused`() throws {
        let root = TrustedRoot(
            certificate: try Book.sandbox().root, environments: [.sandbox])
        let app = LedgerApp(bundleID: Book.bundleID, environments: [.sandbox])
        let live = LedgerApp(bundleID: "com.example.live", environments: [.production])
        let none = LedgerApp(bundleID: "com.example.none", environments: [])
        let cases: [(String, [TrustedRoot], [LedgerApp])] = [
            ("rootMissing", [], [app]), ("appMissing", [root], []),
            ("appTwice", [root], [app, app]),
            ("environmentUnproven", [root], [app, live]), ("environmentMissing", [root], [none]),
        ]
        for (code, roots, apps) in cases {
            let refused = #expect(throws: WireError.self) {
                try LedgerConfiguration(roots: roots, apps: apps)
            }
            #expect(refused?.code == code)
        }
        let file = #expect(throws: WireError.self) {
            try TrustedRoot(file: Array("no certificate".utf8), environments: [.sandbox])
        }
        #expect(file?.code == "rootInvalid")
        let pem = try TrustedRoot(
            file: Array(try Book.sandbox().rootPEM.utf8), environments: [.sandbox])
        #expect(pem == root)
    }

    /// Genuine signed data, where the corpus has some: what is refused under
    /// our roots for its root is refused under its own for its app only.
    @Test func `Apple's chain is believed where Apple's root is trusted`() async throws {
        guard let files = CorpusLocation.files(endingIn: ".jws") else {
            print("skipped: Apple's signed data (SHOPKEEPER_CORPUS names no folder)")
            return
        }
        for file in files {
            let text = try String(contentsOfFile: file, encoding: .utf8)
                .trimmingCharacters(in: .whitespacesAndNewlines)
            let request = TakePurchaseRequest(signedTransaction: text)
            let ours = try await Book.open().ledger
            let apples = try await Self.believing(try Self.root(of: text))

            let unknown = try await refusal { try await ours.take(request) }
            let known = try await refusal { try await apples.take(request) }

            #expect(unknown?.first == "rootUntrusted", "\(file)")
            #expect(known?.first == "bundleIdRefused", "\(file)")
        }
        print("corpus: \(files.count) of Apple's chains believed")
    }

    private static func root(of compact: String) throws -> [UInt8] {
        struct Header: Decodable { let x5c: [String] }
        let text = compact.prefix { $0 != "." }.replacingOccurrences(of: "-", with: "+")
            .replacingOccurrences(of: "_", with: "/")
        let padding = String(repeating: "=", count: (4 - text.count % 4) % 4)
        let bytes = try #require(Data(base64Encoded: text + padding))
        let header = try JSONDecoder().decode(Header.self, from: bytes)
        return [UInt8](try #require(header.x5c.last.flatMap { Data(base64Encoded: $0) }))
    }

    private static func believing(_ root: [UInt8]) async throws -> Ledger {
        let environments: Set<Environment> = [.production, .sandbox]
        return try await Ledger.open(
            storage: try await Shelf.storage(),
            configuration: try LedgerConfiguration(
                roots: [TrustedRoot(certificate: root, environments: environments)],
                apps: [LedgerApp(bundleID: Book.bundleID, environments: environments)]),
            ports: LedgerPorts(wall: .standing(at: Book.now), randomness: .seeded(1)) { _, _ in })
    }
}
