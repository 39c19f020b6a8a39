// SPDX-License-Identifier: Apache-2.0

import Commerce
import SignedData
import Storage
import StoreWire
import StrictJSON
import Synchronization
import Testing

@testable import Ledger

/// How an account is proven: by the ledger's tokens and by the merchant's.
@Suite(.timeLimit(.minutes(5))) struct ProvenAccountTests {
    private struct Claims: Encodable {
        var iss = "https://merchant.example"
        var aud = "ledger"
        var sub = "blob"
        var iat = Book.now.milliseconds / 1000
        var exp = Book.now.milliseconds / 1000 + 3600
    }

    private static let address = "https://keys.example/jwks"

    /// A merchant's server of keys: a signer, and its key set.
    private struct Issuer {
        let signer: PlainKeySigner

        init() throws { signer = try PlainKeySigner(secret: PlainKeySigner.makeSecret()) }

        func token(_ claims: Claims = Claims()) throws -> String { try signer.sign(claims) }

        func keySet() throws -> [UInt8] {
            try StrictJSON.encode(
                LedgerPublicKeys(keys: [
                    LedgerPublicKeys.Key(
                        kty: "EC", crv: "P-256", alg: "ES256", use: "sig", kid: signer.keyID,
                        x: signer.point.x, y: signer.point.y)
                ]))
        }

        func answer() throws -> StoreAnswer { StoreAnswer(status: 200, body: try keySet()) }
    }

    private func ledger(
        _ store: FakeStore, _ clock: MovedClock, testers: [String] = [],
        environments: Set<Environment> = [.production, .sandbox], grants: GrantRules = .none
    ) async throws -> Book {
        let book = try await Book.open(
            asking: store, environments: environments, grants: grants, wall: clock.wall)
        var configuration = book.ledger.configuration
        configuration.accounts = AccountRules(
            tokens: .init(
                AccountTokenRules(
                    issuer: "https://merchant.example", audience: "ledger",
                    lifetimeSecondsMax: 86_400), url: Self.address),
            sandboxTesters: testers)
        return Book(
            ledger: try await Ledger.open(
                storage: book.storage, configuration: configuration, ports: book.ledger.ports),
            storage: book.storage)
    }

    private func code(_ ledger: Ledger, _ token: String) async throws -> String {
        do { return try await ledger.account(provenBy: token) } catch let refusal
            as LedgerRefusal
        { return refusal.error.code }
    }

    @Test func `an unknown key is fetched, at most once a minute`() async throws {
        let (store, clock, first, second) = (
            FakeStore(), MovedClock(), try Issuer(), try Issuer()
        )
        let ledger = try await ledger(store, clock).ledger
        store.isDown()
        let unreached = try await code(ledger, try first.token())
        store.answers { _ in try first.answer() }
        let tooEarly = try await code(ledger, try first.token())
        clock.move(seconds: 60)
        let found = try await code(ledger, try first.token())
        let again = try await code(ledger, try first.token())
        store.answers { _ in try second.answer() }
        let strange = try await code(ledger, try second.token())
        let calls = store.heard()
        clock.move(seconds: 60)
        let rotated = try await code(ledger, try second.token())
        let gone = try await code(ledger, try first.token())

        #expect([unreached, tooEarly] == Array(repeating: "keySetUnavailable", count: 2))
        #expect([found, again] == ["blob", "blob"])
        #expect(strange == "tokenInvalid")
        #expect(calls == ["keys/jwks", "keys/jwks"])
        #expect([rotated, gone] == ["blob", "tokenInvalid"])
        #expect(store.heard() == ["keys/jwks"])
    }

    @Test func `a server of keys that is dead, or mad, leaves the last keys`() async throws {
        let (store, clock, issuer) = (FakeStore(), MovedClock(), try Issuer())
        let ledger = try await ledger(store, clock).ledger
        store.answers { _ in try issuer.answer() }
        let token = try issuer.token()
        var outcomes = [try await code(ledger, token)]
        for answer in [
            nil, StoreAnswer(status: 500), StoreAnswer(status: 200, body: Array("{}".utf8)),
        ] {
            store.answers { _ in
                guard let answer else { throw StoreUnreached("nobody answers") }
                return answer
            }
            clock.move(seconds: 61)
            outcomes.append(try await code(ledger, try Issuer().token()))
            outcomes.append(try await code(ledger, token))
        }

        #expect(
            outcomes == ["blob"] + (0..<3).flatMap { _ in ["tokenInvalid", "blob"] })
    }

    @Test func `the ledger's own token proves its account, for its time`() async throws {
        let (store, clock) = (FakeStore(), MovedClock())
        let ledger = try await ledger(store, clock).ledger
        let issued = try ledger.issueToken(
            AccountTokenRequest(seconds: 60), account: Book.blob.uppercased())
        let other = try await Book.open().ledger
        let foreign = try other.issueToken(AccountTokenRequest(), account: Book.blob)
        let signed = try await ledger.signedEntitlements(
            account: Book.blob, environment: "Sandbox"
        ).signedEntitlements
        let proven = try await code(ledger, issued.token)
        clock.move(seconds: 60)
        let late = try await code(ledger, issued.token)

        #expect(proven == Book.blob)
        #expect(late == "tokenExpired")
        #expect(try await code(ledger, foreign.token) == "keySetUnavailable")
        #expect(try await code(other, issued.token) == "tokenInvalid")
        // What the ledger signs for another purpose proves no account.
        #expect(try await code(other, signed) == "tokenInvalid")
        for seconds in [0, 3601] {
            #expect(
                try await refusal {
                    try ledger.issueToken(AccountTokenRequest(seconds: seconds), account: "a")
                } == ["secondsInvalid", "seconds"])
        }
    }

    @Test func `a sandbox's purchase grants production's goods to listed accounts only`()
        async throws
    {
        let rules = try GrantRules([
            "coins": [Grant(name: "pro", kind: .entitlement(.forever))]
        ])
        let book = try await ledger(
            FakeStore(), MovedClock(), testers: [Book.blob.uppercased()], grants: rules)
        for account in [Book.blob, "ann"] {
            try await book.prove(account == "ann" ? 1 : 2, account: account)
        }
        func names(_ account: String, _ environment: String) async throws -> [String] {
            try await book.ledger.entitlements(account: account, environment: environment)
                .entitlements.filter(\.isActive).map(\.name)
        }

        #expect(try await names(Book.blob, "Production") == ["pro"])
        #expect(try await names("ann", "Production") == [])
        #expect(try await names("ann", "Sandbox") == ["pro"])
    }

    /// The tester's sandbox is years ahead.
    @Test func `a sandbox's clock ends nothing that was bought in production`() async throws {
        let rules = try GrantRules([
            "gold": [Grant(name: "gold", kind: .entitlement(.subscription(grace: false)))],
            "coins": [Grant(name: "pro", kind: .entitlement(.forever))],
            "day": [Grant(name: "pass", kind: .entitlement(.period(Period(1, .day))))],
        ])
        let book = try await ledger(
            FakeStore(), MovedClock(), testers: [Book.blob], grants: rules)
        for (environment, id) in [(Environment.production, 1), (.sandbox, 2)] {
            let isAhead = environment == .sandbox
            for (n, product) in ["gold", "day"].enumerated() {
                let payload = Book.payload(id * 10 + n) {
                    $0.productId = product
                    $0.type = product == "gold" ? "Auto-Renewable Subscription" : "Consumable"
                    $0.environment = environment.rawValue
                    $0.purchaseDate = Book.now.adding(seconds: -60)
                    $0.expiresDate = Book.now.adding(Period(1, .month))
                    $0.signedDate = isAhead ? Book.now.adding(Period(2, .year)) : Book.now
                }
                _ = try await book.ledger.book(
                    try ProvenPurchase(
                        payload, root: Book.root, environment: environment,
                        bundleID: Book.bundleID.value), account: Book.blob)
            }
        }

        let mine = try await book.ledger.entitlements(
            account: Book.blob, environment: "Production")
        let why = try await book.ledger.reason(
            account: Book.blob, entitlement: "gold", environment: "Production")

        #expect(mine.entitlements.map(\.name) == ["gold", "pass"])
        #expect(mine.entitlements.map(\.isActive) == [true, true])
        #expect(mine.entitlements.map(\.transactionId) == [Book.id(10), Book.id(11)])
        // A period of the sandbox extends none of production.
        let day = Book.now.adding(seconds: -60).adding(Period(1, .day))
        #expect(mine.entitlements.last?.endDate == day)
        #expect(why.isActive && why.purchases.count == 2)
    }

    @Test func `an earlier door's key is kept as its digest, and still opens the ledger`()
        async throws
    {
        let book = try await Book.open()
        let secret = "0123456789abcdef0123456789abcdef"
        try await book.storage.write { writing in
            try writing.execute(
                Statement.Accounts.insertKey, [.text("merchant"), .text(secret)])
        }
        let again = try await Book.open(storage: book.storage).ledger
        let rows = try await book.storage.read {
            try $0.first(Statement.Accounts.key, [.text("merchant")])
        }

        #expect(rows == nil)
        #expect(try await again.admittedKey(secret)?.scope == .server)
        #expect(try await again.admittedKey(secret + "0") == nil)
        #expect(try await again.keys().keys.map(\.name) == ["first key"])
    }
}
