// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import SignedData
import Storage
import StoreWire
import TestSupport
import Testing

@testable import Shop

@Suite(.timeLimit(.minutes(5))) struct SignInTests {
    @Test func `an unnamed device in a sandbox is the default customer's`() async throws {
        let world = try await TestWorld.open(seed: 3)

        let answer = try await world.signIn()

        #expect(answer.customerName == "customer")
        #expect(answer.customerId == "1000000000000000")
        #expect(answer.bundleId == "com.example.monkeys")
        #expect(answer.appAppleId == nil)
        #expect(answer.appTransactionId == "4000000000000000")
        #expect(answer.canMakePayments)
        #expect(answer.realm == world.realm.description)
        #expect(answer.realm.environment == .sandbox)
        #expect(answer.storefront.countryCode == "USA")
        #expect(answer.storefront.locale == "en_US")
        #expect(answer.now == TestWall.start)
        #expect(answer.tokenExpires > TestWall.start)
        #expect(Data(base64Encoded: answer.rootCertificate) == Data(world.realm.authority.root))
    }

    @Test func `a customer's app transaction id is the same on every device`() async throws {
        let world = try await TestWorld.open()

        let one = try await world.signIn()
        let other = try await world.signIn(device: purchaseID(77))

        #expect(one.appTransactionId == other.appTransactionId)
        #expect(one.token != other.token)
    }

    @Test func `the right password signs in, whatever the case of the name`() async throws {
        let world = try await TestWorld.open()
        _ = try await world.realm.customers.createCustomer(
            CreateCustomerRequest(name: "Ann", password: "correct horse", storefront: "JPN"))

        let answer = try await world.signIn(customer: "ANN", password: "correct horse")

        #expect(answer.customerName == "Ann")
        #expect(answer.storefront.currency == "JPY")
    }

    @Test func `an unknown name and a wrong password get the same answer`() async throws {
        let world = try await TestWorld.open()
        _ = try await world.realm.customers.createCustomer(
            CreateCustomerRequest(name: "ann", password: "correct horse"))

        let unknown = try await refusal { try await world.signIn(customer: "bob", password: "x") }
        let wrong = try await refusal { try await world.signIn(customer: "ann", password: "x") }
        let missing = try await refusal { try await world.signIn(customer: "ann") }

        #expect(unknown.kind == .unauthorised)
        #expect(unknown.error.code == "signInRefused")
        #expect(unknown == wrong)
        #expect(wrong == missing)
    }

    @Test func `a production realm wants a name and a password`() async throws {
        let world = try await TestWorld.open(realm: "live", environment: .production)

        let nobody = try await refusal { try await world.signIn() }
        let noPassword = try await refusal {
            try await world.realm.customers.createCustomer(CreateCustomerRequest(name: "ann"))
        }

        #expect(nobody.error.code == "customerMissing")
        #expect(noPassword.error.code == "passwordMissing")
        #expect(try await world.realm.customers.listCustomers().isEmpty)
    }

    @Test func `the only app of a realm need not be named`() async throws {
        let world = try await TestWorld.open()
        try await world.realm.catalogue.putCatalogue(
            TestWorld.catalogue(), app: AppDescription(bundleID: "com.example.second"))

        let unclear = try await refusal { try await world.signIn() }
        let unknown = try await refusal { try await world.signIn(bundleID: "com.example.third") }
        let named = try await world.signIn(bundleID: "com.example.second")

        #expect(unclear.error.code == "bundleIdMissing")
        #expect(unclear.error.field == "bundleId")
        #expect(unclear.error.remedy?.contains("SHOPKEEPER_BUNDLE_ID") == true)
        #expect(unknown.kind == .notFound)
        #expect(unknown.error.code == "bundleIdUnknown")
        #expect(unknown.error.rule?.contains("com.example.second") == true)
        #expect(named.bundleId == "com.example.second")
    }

    @Test(arguments: [
        (SignInRequest(deviceUUID: "x"), "uuidInvalid", "deviceUUID"),
        (SignInRequest(deviceUUID: ""), "uuidInvalid", "deviceUUID"),
        (SignInRequest(bundleId: "a\0b", deviceUUID: purchaseID(1)), "textInvalid", "bundleId"),
        (
            SignInRequest(deviceUUID: purchaseID(1), deviceName: "a\0"), "textInvalid",
            "deviceName"
        ),
        (SignInRequest(deviceUUID: purchaseID(1), customer: "\0"), "textInvalid", "customer"),
        (
            SignInRequest(
                deviceUUID: purchaseID(1), customer: String(repeating: "x", count: 300)),
            "textTooLong", "customer"
        ),
        (
            SignInRequest(
                deviceUUID: purchaseID(1), customer: "ann",
                password: String(repeating: "x", count: 300)), "textTooLong", "password"
        ),
        (SignInRequest(appVersion: "", deviceUUID: purchaseID(1)), "textEmpty", "appVersion"),
        (
            SignInRequest(appVersion: "1\0", deviceUUID: purchaseID(1)), "textInvalid",
            "appVersion"
        ),
    ])
    func `bad input names its field, rule and remedy`(
        request: SignInRequest, code: String, field: String
    ) async throws {
        let world = try await TestWorld.open()

        let refusal = try await refusal {
            try await world.realm.customers.signIn(request, TestWorld.context)
        }

        #expect(refusal.kind == .badRequest)
        #expect(refusal.error.code == code)
        #expect(refusal.error.field == field)
        #expect(refusal.error.rule != nil && refusal.error.remedy != nil)
    }

    @Test func `a session ends by wall time`() async throws {
        let world = try await TestWorld.open()
        let answer = try await world.signIn()
        world.wall.advance(seconds: CustomerRoom.sessionSeconds - 1)
        _ = try await world.realm.customers.session(token: answer.token)
        world.wall.advance(seconds: 1)

        let refusal = try await refusal {
            try await world.realm.customers.session(token: answer.token)
        }

        #expect(refusal.kind == .unauthorised)
        #expect(refusal.error.code == "sessionUnknown")
    }

    @Test func `a jump of the clock breaks no session`() async throws {
        let world = try await TestWorld.open()
        let token = try await world.signIn().token

        _ = try await world.realm.moveClock(
            MoveClockRequest(advanceMilliseconds: 40 * 365 * 86_400_000), TestWorld.context)

        let session = try await world.realm.customers.session(token: token)
        #expect(session.bundleID == TestWorld.bundleID)
    }

    @Test(arguments: [
        "", ".", "1", "1.", "x.y", "1000000000000000.00",
        "1000000000000000." + String(repeating: "0", count: 64),
        "99999999999999999999." + String(repeating: "0", count: 64),
        String(repeating: "1", count: 500), "1000000000000000.\0",
    ])
    func `an invalid token proves nothing`(token: String) async throws {
        let world = try await TestWorld.open()

        let refusal = try await refusal { try await world.realm.customers.session(token: token) }

        #expect(refusal.kind == .unauthorised)
    }

    @Test func `a session of another realm proves nothing here`() async throws {
        let world = try await TestWorld.open()
        let token = try await world.signIn().token
        _ = try await world.store.createRealm(CreateRealmRequest(name: "other"))
        let other = try await world.store.realm(named: "other")

        let refusal = try await refusal { try await other.customers.session(token: token) }

        #expect(refusal.error.code == "sessionUnknown")
    }

    @Test func `ended sessions are cleared away when the customer signs in`() async throws {
        let world = try await TestWorld.open()
        for n in 0..<5 { _ = try await world.signIn(device: purchaseID(n)) }
        world.wall.advance(seconds: CustomerRoom.sessionSeconds)
        world.places.counter.reset()

        _ = try await world.signIn()

        #expect(world.places.counter.statements.contains("sessions.deleteOld"))
        #expect(world.places.counter.commits == 1)
    }

    @Test func `a production realm does not reveal which apps it has`() async throws {
        let world = try await TestWorld.open(realm: "live", environment: .production)

        let unknown = try await refusal {
            try await world.signIn(customer: "ann", password: "x", bundleID: "com.example.third")
        }

        #expect(unknown.error.code == "bundleIdUnknown")
        #expect("\(unknown)".contains("com.example.third") == false)
        #expect("\(unknown)".contains(TestWorld.bundleID.value) == false)
    }

    @Test func `a production password has at least 8 characters`() async throws {
        let world = try await TestWorld.open(realm: "live", environment: .production)
        let short = try await refusal {
            try await world.realm.customers.createCustomer(
                CreateCustomerRequest(name: "ann", password: "1234567"))
        }
        let made = try await world.realm.customers.createCustomer(
            CreateCustomerRequest(name: "ann", password: "12345678"))
        let changed = try await refusal {
            try await world.realm.customers.changeCustomer(
                made.customerId, ChangeCustomerRequest(password: "1234567"))
        }

        #expect([short, changed].map(\.error.code) == ["passwordTooShort", "passwordTooShort"])
        #expect(short.error.field == "password" && short.error.remedy != nil)
    }

    @Test func `a right password renews a hash of another cost, a wrong one does not`()
        async throws
    {
        let world = try await TestWorld.open()
        let made = try await world.realm.customers.createCustomer(
            CreateCustomerRequest(name: "ann", password: "correct horse"))
        let number = try #require(Int64(made.customerId))
        let storage = world.realm.storage(of: CustomerID(number))
        func stored() async throws -> String {
            try await storage.read {
                try $0.first(Statement.Customers.byID, [.integer(number)])?
                    .text("password_hash") ?? ""
            }
        }
        let old = try await Passwords(
            cost: PasswordCost(rounds: 16), randomness: .seeded(5),
            queue: PasswordQueue(workers: 1)
        ).hash("correct horse")
        try await storage.write {
            try $0.execute(Statement.Customers.setPassword, [.integer(number), .text(old)])
        }

        _ = try await refusal { try await world.signIn(customer: "ann", password: "wrong") }
        let before = try await stored()
        _ = try await world.signIn(customer: "ann", password: "correct horse")
        let renewed = try await stored()
        _ = try await world.signIn(customer: "ann", password: "correct horse")

        #expect(before == old)
        #expect(renewed.hasPrefix("scrypt$2$8$1$"))
        #expect(try await stored() == renewed)
    }

    @Test func `a customer has a bounded number of sessions and devices`() async throws {
        let world = try await TestWorld.open(realm: "live", environment: .production)
        let made = try await world.realm.customers.createCustomer(
            CreateCustomerRequest(name: "ann", password: "correct horse"))
        let most = Int(world.realm.customers.sessionsMax)
        var tokens: [String] = []
        for n in 1...(most + 3) {
            world.wall.advance(seconds: 1)
            tokens.append(
                try await world.signIn(
                    customer: "ann", password: "correct horse", device: purchaseID(n)
                ).token)
        }

        let listed = try await world.realm.customers.listSessions(customer: made.customerId)
        let devices = try await world.realm.storage(
            of: CustomerID(try #require(Int64(made.customerId)))
        ).read {
            try $0.first(
                Statement("test.devices", "SELECT count(*) AS count FROM devices"), [])?
                .integer("count")
        }
        let oldest = try await refusal { try await world.realm.customers.session(token: tokens[2]) }

        #expect(listed.sessions.count == most)
        #expect(devices == Int64(most))
        #expect(oldest.error.code == "sessionUnknown")
        _ = try await world.realm.customers.session(token: tokens[3])
        _ = try await world.realm.customers.session(token: try #require(tokens.last))
    }

    @Test func `logs hold neither token nor password nor name`() async throws {
        let world = try await TestWorld.open()
        _ = try await world.realm.customers.createCustomer(
            CreateCustomerRequest(name: "ann.person", password: "correct horse"))

        let answer = try await world.signIn(customer: "ann.person", password: "correct horse")

        let secret = try #require(answer.token.split(separator: ".").last)
        #expect(!world.logged.everything.contains(secret))
        #expect(!world.logged.everything.contains("correct horse"))
        #expect(!world.logged.everything.contains("ann.person"))
        #expect(world.logged.everything.contains("\"requestId\": \"test\""))
    }
}

@Suite(.timeLimit(.minutes(5))) struct PasswordTests {
    private static let queue = PasswordQueue(workers: 2)
    private let passwords = Passwords(
        cost: PasswordCost(rounds: 4), randomness: .seeded(1), queue: queue)

    @Test func `a password matches its own hash only`() async throws {
        let hash = try await passwords.hash("correct horse")

        #expect(hash.hasPrefix("scrypt$4$8$1$"))
        #expect(try await passwords.matches("correct horse", hash))
        #expect(try await !passwords.matches("correct hors", hash))
        #expect(try await !passwords.matches("", hash))
        #expect(try await !passwords.matches("correct horse", nil))
    }

    @Test func `the same password is hashed differently each time`() async throws {
        let one = try await passwords.hash("correct horse")
        let other = try await passwords.hash("correct horse")

        #expect(one != other)
    }

    @Test func `a hash made at another cost still matches`() async throws {
        let hash = try await passwords.hash("correct horse")
        let dearer = Passwords(
            cost: PasswordCost(rounds: 16), randomness: .seeded(2), queue: Self.queue)

        #expect(try await dearer.matches("correct horse", hash))
        #expect(dearer.isOutdated(hash) && !passwords.isOutdated(hash))
    }

    @Test func `passwords cost by default what OWASP recommends`() {
        #expect(
            PasswordCost.standard == PasswordCost(rounds: 131_072, blockSize: 8, parallelism: 1))
    }

    @Test func `an unknown name costs what some customer's hash costs`() async throws {
        let queue = PasswordQueue(workers: 1)
        let old = Passwords(cost: PasswordCost(rounds: 16), randomness: .seeded(2), queue: queue)
        let new = Passwords(cost: PasswordCost(rounds: 64), randomness: .seeded(3), queue: queue)
        // A worker counts a moment after it has answered.
        let counted = { () async -> Int in
            await until("a queue that has counted its work") { queue.count == 0 }
            return queue.workDone
        }
        let hash = try await old.hash("correct horse")
        let before = await counted()

        #expect(try await !new.matches("x", nil, decoy: hash))
        let alike = await counted()
        #expect(try await !new.matches("x", nil, decoy: nil))

        #expect(alike - before == 16 * 8)
        #expect(await counted() - alike == 64 * 8)
    }

    @Test(arguments: [
        "", "scrypt", "scrypt$3$8$1$00$00", "scrypt$4$8$1$zz$00", "bcrypt$4$8$1$00$00",
        "scrypt$4$0$1$00$00", "scrypt$99999999$8$1$00$00", "scrypt$4$8$1$0$00",
    ])
    func `a damaged hash matches nothing`(stored: String) async throws {
        #expect(try await !passwords.matches("correct horse", stored))
    }

    @Test(arguments: [
        ("scrypt$262144$8$1$00$00", true), ("scrypt$524288$8$1$00$00", false),
        ("scrypt$131072$8$4$00$00", true), ("scrypt$131072$8$5$00$00", false),
    ])
    func `a hash with too high a cost is not accepted`(stored: String, isOne: Bool) {
        #expect(Passwords.isStored(stored) == isOne)
    }

    @Test func `secrets are compared whole`() {
        #expect(constantTimeEqual([1, 2, 3], [1, 2, 3]))
        #expect(!constantTimeEqual([1, 2, 3], [1, 2, 4]))
        #expect(!constantTimeEqual([1, 2, 3], [1, 2]))
        #expect(constantTimeEqual([], []))
    }
}
