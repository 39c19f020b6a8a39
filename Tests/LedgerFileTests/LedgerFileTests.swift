// SPDX-License-Identifier: Apache-2.0

import Commerce
import Ledger
import Testing

@testable import LedgerFile

struct LedgerFileTests {
    private func file(_ text: String) throws -> LedgerFile {
        try LedgerFile(yaml: Array(text.utf8), name: "ledger.yaml")
    }

    private func problems(_ text: String) -> [String] {
        do {
            _ = try file(text)
            return []
        } catch let fault as LedgerFileFault {
            return fault.problems.map { "\($0.line): \($0.rule)" }
        } catch { return ["\(error)"] }
    }

    @Test func `a file says what each product grants`() throws {
        let grants = try file(
            """
            products:
              com.example.pro:
                entitlement: pro
                lasts: forever
                onReversal: keep
              com.example.year:
                entitlement: comments
                lasts: P1Y
              com.example.gold.month:
                entitlement: gold
                lasts: subscribed
                grace: true
              com.example.bundle:
                - credits: coins
                  amount: 500
                  onReversal: debt
                - entitlement: starter
                  lasts: forever
            """
        ).grants

        #expect(
            grants.products == [
                "com.example.pro": [
                    Grant(name: "pro", kind: .entitlement(.forever), onReversal: .keep)
                ],
                "com.example.year": [
                    Grant(name: "comments", kind: .entitlement(.period(Period(1, .year))))
                ],
                "com.example.gold.month": [
                    Grant(name: "gold", kind: .entitlement(.subscription(grace: true)))
                ],
                "com.example.bundle": [
                    Grant(name: "coins", kind: .credits(perUnit: 500), onReversal: .debt),
                    Grant(name: "starter", kind: .entitlement(.forever)),
                ],
            ])
    }

    @Test func `a file says how accounts prove who they are, and how often they may call`()
        throws
    {
        let read = try file(
            """
            accounts:
              jwt:
                jwks: https://login.example/keys
                issuer: https://login.example
                audience: ledger
                claim: user_id
                lifetimeSeconds: 600
              sandboxTesters: [ann, blob]
              restore: transfer
            limits:
              perKey: 50
              perAccount: 5
            """)

        #expect(
            read.accounts.tokens
                == LedgerAccountSettings.Tokens(
                    keySet: "https://login.example/keys", issuer: "https://login.example",
                    audience: "ledger", claim: "user_id", lifetimeSeconds: 600))
        #expect(read.accounts.tokens?.isAddress == true)
        #expect(read.accounts.sandboxTesters == ["ann", "blob"])
        #expect(read.accounts.restore == .transfer)
        #expect(read.limits == CallLimits(perKey: 50, perAccount: 5))
        #expect(
            problems(
                """
                accounts:
                  jwt:
                    jwks: keys.json
                    issuer: a
                    lifetimeSeconds: 86401
                    alg: none
                  testers: ann
                  restore: give
                limits:
                  perKey: 0
                """) == [
                    "3: `jwt` has `jwks`, `issuer` and `audience`",
                    "5: a token is valid for 1 to 86400 seconds", "6: `alg` is unknown here",
                    "7: `testers` is unknown here", "8: there is no `give` here",
                    "10: a limit is 1 to 1000000 calls a second",
                ])
    }

    @Test func `what tokens say has no invisible character`() {
        #expect(
            problems(
                """
                accounts:
                  jwt:
                    jwks: keys.json
                    issuer: "a\\u202Eb"
                    audience: "a\\u200Bb"
                    claim: "a\\u001Bb"
                """) == [
                    "4: `issuer` has no invisible, control or bidirectional characters",
                    "5: `audience` has no invisible, control or bidirectional characters",
                    "6: `claim` has no invisible, control or bidirectional characters",
                ])
    }

    @Test func `a file names the servers that hear of what happens`() throws {
        let read = try file(
            """
            webhooks:
              - url: https://merchant.example/hooks
                secretFile: hook.secret
                ordered: true
                events: [purchase.booked, credits.spent]
              - url: https://other.example
                secretFile: other.secret
            """)

        #expect(
            read.webhooks == [
                LedgerWebhookSettings(
                    url: "https://merchant.example/hooks", secretFile: "hook.secret",
                    isOrdered: true, events: [.purchaseBooked, .creditsSpent]),
                LedgerWebhookSettings(
                    url: "https://other.example", secretFile: "other.secret",
                    isOrdered: false, events: nil),
            ])
        #expect(
            problems(
                """
                webhooks:
                  - url: ftp://merchant.example
                    secretFile: a
                  - url: https://merchant.example
                    secret: whsec_
                    events: sold
                """) == [
                    "2: a url begins with https:// or http://",
                    "4: a webhook has `url` and `secretFile`", "5: `secret` is unknown here",
                    "6: there is no event `sold`",
                ])
    }

    @Test func `where production is booked, the merchant's servers have https addresses`()
        throws
    {
        let read = try file(
            """
            accounts:
              jwt: {jwks: "http://login.example/keys", issuer: a, audience: b}
            webhooks:
              - url: https://merchant.example
                secretFile: a
              - secretFile: b
                url: http://merchant.example
            """)

        #expect(read.plainAddresses(booking: [.sandbox]).isEmpty)
        #expect(
            read.plainAddresses(booking: [.sandbox, .production]).map(\.line).sorted() == [2, 7])
        #expect(read.line(of: "webhooks.1.secretFile") == 6)
    }

    @Test func `the line of each value of a list is known`() throws {
        let read = try file("ledger:\n  trust:\n    - a.pem\n    - b.pem\n  data: x")

        #expect(
            ["ledger.trust.0", "ledger.trust.1", "ledger.data"].map { read.line(of: $0) }
                == [3, 4, 5])
    }

    @Test func `a file says how long notifications and the audit are kept`() throws {
        let read = try file("retention:\n  notificationDays: 181\n  auditDays: 36500")

        #expect(read.retention == (try LedgerRetention(notificationDays: 181, auditDays: 36_500)))
        #expect(try file("products: {}").retention == .usual)
        #expect(
            problems("retention:\n  notificationDays: 180\n  auditDays: 29\n  days: 1") == [
                "2: it is kept for 181 to 36500 days", "3: it is kept for 30 to 36500 days",
                "4: `days` is unknown here",
            ])
    }

    @Test func `a file has the settings that the options have`() throws {
        let settings = try file(
            """
            ledger:
              trust: [root.pem, other.pem]
              trustReceipts: receipts.pem
              trustStore: https://store.example
              rootFingerprint: [aa]
              bundleId: com.example.app
              appId: 123
              environment: [Production, Sandbox]
              host: 0.0.0.0
              port: 4790
              behindProxy: [10.0.0.7]
              behindAnyProxy: false
              publicUrl: https://ledger.example
              data: ./data
              database: "@db.txt"
              metricsKey: metrics.key
              onlineChecks: soft
              logLevel: info
            """
        ).settings

        var expected = LedgerSettings()
        expected.trust = ["root.pem", "other.pem"]
        expected.trustReceipts = ["receipts.pem"]
        expected.trustStore = ["https://store.example"]
        expected.rootFingerprint = ["aa"]
        expected.bundleID = ["com.example.app"]
        expected.appID = 123
        expected.environment = ["Production", "Sandbox"]
        expected.host = "0.0.0.0"
        expected.port = 4790
        expected.behindProxy = ["10.0.0.7"]
        expected.behindAnyProxy = false
        expected.publicURL = "https://ledger.example"
        expected.data = "./data"
        expected.database = "@db.txt"
        expected.metricsKey = "metrics.key"
        expected.onlineChecks = "soft"
        expected.logLevel = "info"
        #expect(settings == expected)
    }

    @Test(
        arguments: [
            ("", "1: the file is empty"),
            ("- a", "1: it must be keys and values"),
            ("a: &x 1", "1: anchors, aliases and tags are not read"),
            ("limits:\n\n  perKey: !!int 5", "3: anchors, aliases and tags are not read"),
            ("a: 1\nb: *a", "2: anchors, aliases and tags are not read"),
            (
                "ledger:\n  bundleId:\n    - com.x\n    - com.y\n    - com.x",
                "5: `com.x` is named once more"
            ),
            ("ledger:\n  bundleId: [com.x, com.x]", "2: `com.x` is named once more"),
            (
                "webhooks:\n  - secretFile: a\n    url: https://ann:secret@merchant.example/x",
                "3: a url names no user and no password"
            ),
            (
                "webhooks:\n  - secretFile: a\n    url: http://ann@merchant.example?a",
                "3: a url names no user and no password"
            ),
            ("webhooks:\n  - secretFile: a\n    url: https:///x", "3: a url names a server"),
            (
                "accounts:\n  jwt:\n    audience: a\n    issuer: b\n    jwks: https://a:b@c/d",
                "5: a url names no user and no password"
            ),
            ("a: [", "2: the file is not YAML"),
            (
                "limits:\n  perKey: 5\n# again\nlimits:\n  perKey: 6",
                "1: `limits` is written here and once more"
            ),
            (
                "products:\n  p:\n    - credits: a\n      amount: 1\n    - credits: b\n"
                    + "      amount: 2\n      \"amount\": 3",
                "6: `amount` is written here and once more"
            ),
            (
                "products:\n  p: {credits: a, amount: 1}\n  q: {credits: a,\n    amount: 1, amount: 2}",
                "4: `amount` is written here and once more"
            ),
            ("prodcts: {}", "1: `prodcts` is unknown here"),
            ("products:\n  p: {}", "2: a grant is an `entitlement` or `credits`"),
            (
                "products:\n  p:\n    entitlement: a\n    credits: b",
                "3: a grant is an `entitlement` or `credits`"
            ),
            ("products:\n  p:\n    entitlement: a", "3: an entitlement has `lasts`"),
            (
                "products:\n  p:\n    entitlement: a b\n    lasts: forever",
                "3: a name has 1 to 64 letters, digits, `.`, `-` and `_`"
            ),
            (
                "products:\n  p:\n    entitlement: a\n    lasts: P1H",
                "4: it lasts forever, subscribed, or for a period of one unit up to 999"
            ),
            (
                "products:\n  p:\n    entitlement: a\n    lasts: forever\n    grace: true",
                "5: only `lasts: subscribed` has a grace"
            ),
            (
                "products:\n  p:\n    entitlement: a\n    lasts: forever\n    onReversal: debt",
                "5: `onReversal` is remove or keep"
            ),
            ("products:\n  p:\n    credits: a", "3: credits have an `amount` for each unit"),
            (
                "products:\n  p:\n    credits: a\n    amount: 1.5",
                "4: an amount is a whole number, 1 to 1000000000"
            ),
            (
                "products:\n  p:\n    credits: a\n    amount: 0",
                "4: an amount is a whole number, 1 to 1000000000"
            ),
            (
                "products:\n  p:\n    credits: a\n    amount: 1\n    lasts: P1D",
                "5: `lasts` is unknown here"
            ),
            (
                "products:\n  p:\n    - {credits: a, amount: 1}\n    - {credits: a, amount: 2}",
                "2: a product grants each entitlement and each currency once"
            ),
            ("products:\n  p: []", "2: a product has 1 to 20 grants"),
            ("ledger:\n  port: 70000", "2: a port is 0 to 65535"),
            ("ledger:\n  environment: Moon", "2: there is no environment `Moon`"),
            ("ledger:\n  onlineChecks: maybe", "2: there is no `maybe` here"),
            ("ledger:\n  data:", "2: it must be one value"),
            ("ledger:\n  colour: red", "2: `colour` is unknown here"),
        ])
    func `a mistake is reported with its line`(text: String, problem: String) {
        #expect(problems(text) == [problem])
    }

    @Test(
        arguments: [
            ([0x61, 0x3A, 0x0A, 0x62, 0xFF], "2: a ledger's file is UTF-8"),
            ([0xFF, 0xFE, 0x61, 0x00], "1: a ledger's file is UTF-8"),
            // A character that is cut off at the end.
            ([0x61, 0x0A, 0x0A, 0xE2, 0x82], "3: a ledger's file is UTF-8"),
            ([0x61, 0x0A, 0xEF, 0xBF], "2: a ledger's file is UTF-8"),
            ([0x61, 0x0A, 0x00], "2: a ledger's file has no U+0000"),
            (
                Array(repeating: 0x20, count: LedgerFile.bytesMax + 1),
                "1: a ledger's file has at most 1048576 bytes"
            ),
        ] as [([UInt8], String)])
    func `what is no text is refused with its line and a remedy of its own`(
        bytes: [UInt8], problem: String
    ) throws {
        let fault = try #require(throws: LedgerFileFault.self) {
            try LedgerFile(yaml: bytes, name: "ledger.yaml")
        }
        let found = try #require(fault.problems.first)

        #expect("\(found.line): \(found.rule)" == problem)
        #expect((found.remedy == "shorten it") == (bytes.count > LedgerFile.bytesMax))
        #expect((found.remedy == "save it in UTF-8") == problem.hasSuffix("is UTF-8"))
    }

    /// A mail address in the path or the query is none of the server's.
    @Test(arguments: ["https://a.example/@b", "https://a.example?to=a@b", "http://[::1]:80/#@"])
    func `an address may have an at sign behind its server`(url: String) throws {
        let read = try file("webhooks:\n  - secretFile: a\n    url: \"\(url)\"")

        #expect(read.webhooks.map(\.url) == [url])
    }

    /// YAML 1.1 reads some of them as other numbers than people mean.
    @Test(arguments: [
        "010", "00", "-0", "+5", "0x10", "0o17", "1_000", "1e3", "1.0", "٣", "12 ", "1:30",
        "\"07\"",
    ])
    func `a number is decimal digits alone`(text: String) throws {
        let found = problems("products:\n  p:\n    credits: a\n    amount: \(text)")
        let isRight = text == "12 "

        #expect(found == (isRight ? [] : ["4: an amount is a whole number, 1 to 1000000000"]))
        #expect(try file("ledger:\n  port: 0").settings.port == 0)
        #expect(problems("ledger:\n  port: \(text)").isEmpty == isRight)
    }

    @Test(arguments: ["null", "~", "Null", "NULL"])
    func `an absent value is no name, and the same word in quotes is one`(
        word: String
    ) throws {
        let absent = "`\(word)` is no value in YAML"

        #expect(problems("ledger:\n  bundleId: \(word)") == ["2: \(absent)"])
        #expect(problems("ledger:\n  bundleId:\n    - a\n    - \(word)") == ["4: \(absent)"])
        #expect(
            problems("products:\n  p:\n    credits: \(word)\n    amount: 1") == ["3: \(absent)"])
        let grant = "{credits: a, amount: 1}"
        #expect(
            problems("products:\n  p: \(grant)\n  \(word): \(grant)") == ["3: \(absent)"])
        for quoted in ["'\(word)'", "\"\(word)\""] {
            #expect(try file("ledger:\n  bundleId: \(quoted)").settings.bundleID == [word])
        }
    }

    @Test func `every mistake is reported, in the order of the lines`() {
        let text = """
            products:
              p:
                credits: a
                amount: many
              q:
                lasts: forever
            ledger:
              port: x
            """

        #expect(
            problems(text) == [
                "4: an amount is a whole number, 1 to 1000000000",
                "6: a grant is an `entitlement` or `credits`", "8: a port is 0 to 65535",
            ])
    }
}
