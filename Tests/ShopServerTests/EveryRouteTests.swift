// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import Live
import Shop
import StoreWire
import TestSupport
import Testing

@testable import ShopServer

/// Every registered route is asked over HTTP: as it should be, as it should
/// not, without a key and with another door's. What comes is what
/// `docs/openapi.json` says: each status is there, and none of the route's own
/// is there for nothing. One walk at a time:
/// stores of one process share the certificates that a walk rotates.
@Suite(.serialized, .timeLimit(.minutes(5))) struct EveryRouteTests {
    @Test func `every route answers what is right and refuses what is wrong`() async throws {
        let device = DeviceRoute.samples.map { "\($0.method) \($0.pattern)" }
        let registered = Set(Routes.table.all.map { "\($0.method) \($0.pattern)" } + device)
        let stepped = RouteStep.all.map(\.route)
        #expect(Set(stepped).count == stepped.count)
        #expect(Set(stepped).subtracting(registered) == [], "these steps have no route")
        #expect(registered.subtracting(stepped) == [], "these routes have no step")
        let page = try OpenAPIPage()
        #expect(Set(page.operations.keys) == registered)

        try await TestServer.with { server in
            let tour = try await Tour(server)
            for step in RouteStep.all {
                let good = try await tour.ask(step, step.good)
                #expect(step.expects.contains(good.status), "\(step.route): \(good.text)")
                try tour.remember(step, good)
                let bad = try await tour.ask(step, step.bad)
                #expect((400..<500).contains(bad.status), "\(step.route): \(bad.text)")
                if let code = step.code {
                    #expect(bad.error?.code == code, "\(step.route): \(bad.text)")
                }
                let difference = page.difference(good.body, good.status, of: step.route)
                #expect(difference == nil, "\(step.route): \(good.text)")
                var seen = step.seenElsewhere.union([good.status])
                if step.bad.method == nil { seen.insert(bad.status) }
                if let key = step.good.key {
                    for other in [.none, key == .control ? .operator : DoorsTests.Key.control] {
                        seen.insert(try await tour.ask(step.route, other).status)
                    }
                }
                let written = page.operations[step.route]?.statuses ?? []
                #expect(
                    seen.isSubset(of: written), "\(step.route) answers \(seen.sorted())")
                let unseen = written.subtracting(seen).subtracting(Self.anywhere)
                #expect(unseen == [], "\(step.route) answers \(seen.sorted())")
                let missing = Self.always(step).subtracting(written)
                #expect(missing == [], "\(step.route) lacks these statuses")
            }
        }
    }
}

extension EveryRouteTests {
    /// What a walk of one question each cannot come by: the shell's own answers,
    /// and refusals that only other contents meet, which a fuzzer looks for.
    private static let anywhere: Set = [400, 403, 404, 408, 409, 413, 415, 421, 429, 500, 501, 503]

    /// What any request to a route may be answered.
    private static func always(_ step: RouteStep) -> Set<Int> {
        var statuses: Set = [400, 500, 503]
        if !["/health", "/ready"].contains(step.pattern) { statuses.formUnion([403, 421]) }
        if step.good.body?.isEmpty == false { statuses.formUnion([408, 413]) }
        if step.good.key != nil { statuses.insert(429) }
        return statuses
    }

    /// Of these there is nothing before: they make something.
    private static let making: Set<String> = [
        "POST /operator/v1/realms", "POST /operator/v1/realms/{}/branches",
        "POST /control/v1/snapshots", "POST /control/v1/purchases", "POST /operator/v1/operators",
        "POST /operator/v1/customers",
        "POST /operator/v1/server-keys", "POST /operator/v1/notifications",
        "POST /operator/v1/apps/{}/notifications/{}/attempts",
        "POST /operator/v1/apps", "POST /operator/v1/apps/{}/products",
        "POST /operator/v1/apps/{}/versions", "POST /operator/v1/apps/{}/groups",
        "POST /operator/v1/apps/{}/bulk-changes",
        "POST /operator/v1/apps/{}/products/{}/content",
        "PUT /operator/v1/apps/{}/promotions/{}",
        // Their first time, as the tour comes by.
        "PUT /operator/v1/apps/{}/catalogue", "PUT /operator/v1/apps/{}/images/{}",
    ]
    /// Of these there is nothing after.
    private static let removing: Set<String> = [
        "DELETE /operator/v1/realms/{}", "DELETE /control/v1/snapshots/{}",
        "DELETE /operator/v1/apps/{}/images/{}",
        "DELETE /operator/v1/apps/{}/groups/{}", "DELETE /operator/v1/apps/{}/promotions/{}",
    ]
    /// Pieces of an upload: its begin and its completion are audited.
    private static let unaudited: Set<String> = [
        "PUT /operator/v1/apps/{}/products/{}/content/{}"
    ]

    /// A route that is new and changes something fails here until it writes
    /// its entry, whatever door it is of.
    @Test func `every change is in the audit, under the name of the key`() async throws {
        let doors: [DoorsTests.Key: String] = [.operator: "ann", .control: "control"]
        try await TestServer.with { server in
            let ann = try await server.store.createOperator(
                CreateOperatorRequest(name: "ann"), Shop.RequestContext(requestID: "test"))
            let tour = try await Tour(server, operatorKey: ann.key)
            let signIn = try #require(
                RouteStep.all.first { $0.route == "POST /device/v1/sessions" })
            for step in RouteStep.all {
                // Ending sessions is a change only if there is one.
                if step.route == "DELETE /operator/v1/customers/{}/sessions" {
                    _ = try await tour.ask(signIn, signIn.good)
                }
                let before = try await tour.audited()
                let good = try await tour.ask(step, step.good)
                try tour.remember(step, good)
                let entries = try await tour.audited().subtracting(before)
                guard let who = step.good.key.flatMap({ doors[$0] }), step.method != "GET",
                    !Self.unaudited.contains(step.route)
                else {
                    #expect(entries.isEmpty, "\(step.route): \(entries)")
                    continue
                }
                #expect(entries.count == 1, "\(step.route): \(good.text)")
                guard let entry = entries.first else { continue }
                #expect(entry.who == who, "\(step.route)")
                #expect(!entry.subject.isEmpty && entry.deed.contains("."), "\(step.route)")
                if Self.making.contains(step.route) {
                    #expect(entry.changes.allSatisfy { $0.before == nil }, "\(entry)")
                }
                if Self.removing.contains(step.route) {
                    #expect(entry.changes.allSatisfy { $0.after == nil }, "\(entry)")
                }
                #expect(!entry.changes.isEmpty, "\(step.route): \(entry)")
                for change in entry.changes {
                    #expect(change.before != "" && change.after != "", "\(step.route): \(entry)")
                }
            }
        }
    }
}

extension DeviceRoute {
    /// One of each case: a new one does not compile here until it is added.
    static let samples: [DeviceRoute] = {
        let all: [DeviceRoute] = [
            .signIn, .products, .offer, .purchase(id: "a"), .transactions(since: 0, waitSeconds: 0),
            .finish(transactionID: "1"), .requestRefund(transactionID: "1"), .receipt,
            .priceIncreases, .consent(subscriptionID: "1"), .content(transactionID: "1"),
            .promotionOverrides, .orderPromotions, .showPromotion, .reviewRequest, .review,
            .claimIntents, .decideIntent(id: "a"),
        ]
        for route in all {
            switch route {
            case .signIn, .products, .offer, .purchase, .transactions, .finish, .requestRefund,
                .receipt, .priceIncreases, .consent, .content, .promotionOverrides,
                .orderPromotions, .showPromotion, .reviewRequest, .review, .claimIntents,
                .decideIntent:
                continue
            }
        }
        return all
    }()
}

/// One request. `{word}` in addresses and bodies stands for what an earlier
/// answer told.
struct Question: Sendable {
    /// The route's own where nil.
    var method: String?
    var path: String
    var body: String?
    var key: DoorsTests.Key?

    init(_ path: String, _ key: DoorsTests.Key?, body: String? = nil, method: String? = nil) {
        (self.method, self.path, self.body, self.key) = (method, path, body, key)
    }
}

/// What is asked of one route.
struct RouteStep: Sendable {
    /// Method and pattern, as registered.
    let route: String
    let good: Question
    /// Statuses that the good one may have.
    var expects: Range<Int> = 200..<300
    let bad: Question
    /// The code that the bad one is refused with; nil: Apple's door, which
    /// has its own shape.
    let code: String?
    /// `word=a.0.b`: what to remember of the good answer, and where it is.
    var told: [String] = []
    /// Statuses that this walk cannot come by, and other tests see.
    var seenElsewhere: Set<Int> = []

    var method: String { String(route.prefix { $0 != " " }) }
    var pattern: String { String(route.drop { $0 != " " }.dropFirst()) }
}

/// One walk through all routes, in an order in which each finds what it
/// needs. A class, because answers are remembered.
private final class Tour {
    private let server: TestServer
    private let keys: [DoorsTests.Key: String]
    private var words: [String: String]

    init(_ server: TestServer, operatorKey: String? = nil) async throws {
        self.server = server
        var keys = try await server.keys()
        if let operatorKey { keys[.operator] = operatorKey }
        self.keys = keys
        let now = Live.wallClock.now.milliseconds
        words = [
            "app": TestServer.bundleID.value, "purchase": purchaseID(1),
            "waiting": purchaseID(2), "from": "\(now - 60_000)", "to": "\(now + 60_000)",
        ]
        _ = try await server.store.realm(named: Store.defaultRealm).catalogue.createProduct(
            CreateProductRequest(
                productId: "pass", type: "auto-renewable", groupId: "pro", period: "P1M"),
            bundleID: TestServer.bundleID.value, Shop.RequestContext(requestID: "tour"))
        _ = try await server.store.realm(named: Store.defaultRealm).promotions.set(
            "pass", bundleID: TestServer.bundleID.value, image: SamplePicture.png(),
            visibility: nil, Shop.RequestContext(requestID: "tour"))
        _ = try await server.store.realm(named: Store.defaultRealm).catalogue.addOffer(
            OfferRecord(
                kind: "code", referenceName: "spring", paymentMode: "free", period: "P1M",
                eligibility: ["new"]),
            product: "pass", bundleID: TestServer.bundleID.value,
            Shop.RequestContext(requestID: "tour"))
        let asking = PurchaseRequest(
            productId: "pro", quantity: 1, unitPrice: 4990, currency: "USD",
            simulatesAskToBuyInSandbox: true)
        _ = try await server.send(
            .purchase(id: purchaseID(2)), asking, bearer: keys[.device] ?? "")
        try await subscribe()
    }

    /// Sells a subscription.
    private func subscribe() async throws {
        let realm = try await server.store.realm(named: Store.defaultRealm)
        let (app, context) = (TestServer.bundleID.value, Shop.RequestContext(requestID: "tour"))
        for (id, group) in [("paper", "press"), ("gazette", "press"), ("leaflet", "leaf")] {
            _ = try await realm.catalogue.createProduct(
                CreateProductRequest(
                    productId: id, type: "auto-renewable", groupId: group, period: "P1M"),
                bundleID: app, context)
            var change = ProductChange()
            change.price = 4990
            change.localizations = [
                ProductWords(locale: "en_US", displayName: "Paper", description: "")
            ]
            change.state = "ready"
            _ = try await realm.catalogue.changeProduct(id, bundleID: app, change, context)
        }
        _ = try await realm.catalogue.addOffer(
            OfferRecord(
                kind: "code", referenceName: "tour", paymentMode: "free", period: "P1M",
                eligibility: ["new", "existing"]), product: "paper", bundleID: app, context)
        _ = try await realm.offers.createCodes(
            CreateOfferCodesRequest(productId: "paper", offer: "tour", code: "TOUR"),
            bundleID: app, context)
        var payment = PurchaseRequest(
            productId: "paper", quantity: 1, unitPrice: 4990, currency: "USD")
        _ = try await server.send(
            .purchase(id: purchaseID(3)), payment, bearer: keys[.device] ?? "")
        let sold = try #require(await realm.subscriptions.list().subscriptions.first)
        words["subscription"] = sold.subscriptionId
        payment.productId = "leaflet"
        _ = try await server.send(
            .purchase(id: purchaseID(5)), payment, bearer: keys[.device] ?? "")
        let leaflet = try #require(
            await realm.subscriptions.list().subscriptions.first { $0.productId == "leaflet" })
        words["leaflet"] = leaflet.subscriptionId
        try await realm.subscriptions.raisePrice(
            of: leaflet.subscriptionId,
            RaisePriceRequest(price: 5990, startDate: leaflet.endDate), context)
        payment.productId = "credits.5"
        payment.unitPrice = 990
        _ = try await server.send(
            .purchase(id: purchaseID(4)), payment, bearer: keys[.device] ?? "")
        words["sold"] = try #require(
            try await realm.purchases.listTransactions().transactions
                .first { $0.purchaseId == purchaseID(4) }?.payload.transactionId)
        words["customer"] = sold.customerId
        try await sellLevel()
    }

    /// Sells a product that gets content.
    private func sellLevel() async throws {
        let realm = try await server.store.realm(named: Store.defaultRealm)
        let (app, context) = (TestServer.bundleID.value, Shop.RequestContext(requestID: "tour"))
        var details = ProductChange()
        details.price = 990
        details.localizations = [
            ProductWords(locale: "en_US", displayName: "Level", description: "")
        ]
        details.state = "ready"
        _ = try await realm.catalogue.createProduct(
            CreateProductRequest(
                productId: SamplePackage.product, type: "non-consumable", details: details),
            bundleID: app, context)
        let payment = PurchaseRequest(
            productId: SamplePackage.product, quantity: 1, unitPrice: 990, currency: "USD")
        _ = try await server.send(
            .purchase(id: purchaseID(6)), payment, bearer: keys[.device] ?? "")
        words["level"] = try #require(
            try await realm.purchases.listTransactions().transactions
                .first { $0.purchaseId == purchaseID(6) }?.payload.transactionId)
    }

    /// What is in the store's audit and in the default realm's.
    func audited() async throws -> Set<AuditRecord> {
        let realm = try await server.store.realm(named: Store.defaultRealm)
        return Set(try await server.store.auditEntries().entries)
            .union(try await realm.auditEntries().entries)
    }

    func ask(_ step: RouteStep, _ question: Question) async throws -> Reply {
        let path = fill(question.path)
        if question.method == nil {
            let parts = path.split(separator: "?", maxSplits: 1).map(String.init)
            let found = try Self.pattern(step.method, RealmPath(parts[0]).path)
            #expect(found == step.pattern)
        }
        let key = question.key.map { keys[$0] ?? "" }
        while true {
            try Task.checkCancellation()
            let reply = try await server.send(
                question.method ?? step.method, path, question.body.map { bytes(fill($0)) },
                bearer: key)
            // The stores of other suites share the certificates, and rotate them too.
            if reply.error?.code != "rotatedAlready" { return reply }
        }
    }

    /// The pattern of the route that answers at a path.
    private static func pattern(_ method: String, _ path: String) throws -> String? {
        if let route = try? DeviceRoute(method: method, path: path) { return route.pattern }
        return try Routes.table.find(method, path)?.route.pattern
    }

    /// `hex:` stands before what is no text.
    private func bytes(_ body: String) -> [UInt8] {
        guard body.hasPrefix("hex:") else { return Array(body.utf8) }
        let digits = Array(body.dropFirst(4))
        return stride(from: 0, to: digits.count - 1, by: 2).compactMap {
            UInt8(String(digits[$0...($0 + 1)]), radix: 16)
        }
    }

    func ask(_ route: String, _ key: DoorsTests.Key) async throws -> Reply {
        let parts = route.split(separator: " ").map(String.init)
        let hasBody = !["GET", "DELETE"].contains(parts[0])
        return try await server.send(
            parts[0], parts[1].replacingOccurrences(of: "{}", with: "a"),
            hasBody ? Array("{}".utf8) : nil, bearer: keys[key])
    }

    func remember(_ step: RouteStep, _ reply: Reply) throws {
        for entry in step.told {
            let sides = entry.split(separator: "=").map(String.init)
            var value: Any? = try JSONSerialization.jsonObject(with: Data(reply.body))
            for part in sides[1].split(separator: ".").map(String.init) {
                if let index = Int(part) {
                    let list = value as? [Any] ?? []
                    value = list.indices.contains(index) ? list[index] : nil
                } else {
                    value = (value as? [String: Any])?[part]
                }
            }
            words[sides[0]] = "\(try #require(value, "\(step.route) told no \(entry)"))"
        }
    }

    private func fill(_ text: String) -> String {
        words.reduce(text) { $0.replacingOccurrences(of: "{\($1.key)}", with: $1.value) }
    }
}
