// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import PurchaseKit
import SignedData
import StoreWire
import Synchronization

/// One authority for the whole process: making RSA keys is slow.
enum Authorities {
    static let first = Result { try CertificateAuthority.make(.sandbox) }
    static let second = Result { try CertificateAuthority.make(.sandbox) }
}

/// A store small enough to read: it sells what it has, once for each
/// purchase id, and does what a test tells it to calls on their way.
final class FakeStore: StoreTransport {
    /// What happens to one call.
    enum Fate {
        case pass
        /// It never arrives.
        case lost(TransportFailure)
        /// It arrives, and the answer never does.
        case replyLost(TransportFailure)
        /// Something else answers, and the call never arrives.
        case answered(DeviceReply)
        /// It arrives, and something else answers.
        case replyReplaced(DeviceReply)
    }

    struct Sale {
        var purchaseID: String?
        var payload: JWSTransactionDecodedPayload
        var isFinished = false
        var revision: Int64
    }

    struct State {
        var products: [String: Int64] = ["credits.5": 990, "credits.10": 1990]
        var realm = "realm-1"
        var generation: Int64 = 1
        var customer = "1000000000001000"
        var mayBuy = true
        var environment = Environment.sandbox
        /// Told when signing in, and with products.
        var disablesDialogs: (signIn: Bool?, products: Bool?) = (nil, nil)
        var storefront = StorefrontDescription(
            countryCode: "USA", region: "US", id: "143441", currency: "USD", locale: "en_US")
        /// What products are, apart from their price.
        var describe: ((inout ProductDescription) -> Void)?
        /// The product that every offer is for, and the requests that came for one.
        var quoted: String?
        var quotes: [String] = []
        /// The higher prices that wait for the customer's consent, and the consents.
        var increases: [PriceIncreaseDescription] = []
        var consents: [String] = []
        /// Whether the customer is asked for a review; what was asked, and the reviews.
        var asksForReview = true
        var reviewQuestions: [String] = []
        var reviews: [String] = []
        var refusal: WireError?
        var waits = false
        var purchases: [String: PurchaseRequest] = [:]
        var sales: [Sale] = []
        var revision: Int64 = 0
        /// Whether pages of transactions show none of the sales.
        var hidesSales = false
        /// How many sales a page has at most.
        var pageMax = Int.max
        /// Pages that showed some.
        var pagesWithSales = 0
        var now = Timestamp(milliseconds: 1_700_000_000_000)
        var calls: [DeviceRoute] = []
        var sessions = 0
        var validTokens: Set<String> = []
        /// Customers by token, and those in whose sessions payments came.
        var owners: [String: String] = [:]
        var buyers: [String?] = []
        var etagsAsked: [String?] = []
        var forge: ((inout JWSTransactionDecodedPayload) -> Void)?
    }

    let state = Mutex(State())
    let content = ContentShelf()
    private let fates = Mutex<[@Sendable (DeviceRoute) -> Fate?]>([])
    let authority: CertificateAuthority
    /// Signs instead of the authority, where set.
    let signer = Mutex<JWSSigner?>(nil)

    init(_ authority: CertificateAuthority) {
        self.authority = authority
    }

    /// Puts a fate before the next call that it applies to; used once.
    func next(_ fate: Fate, when applies: @escaping @Sendable (DeviceRoute) -> Bool) {
        let isUsed = Mutex(false)
        fates.withLock {
            $0.append { route in
                isUsed.withLock { isUsed in
                    guard !isUsed, applies(route) else { return nil }
                    isUsed = true
                    return fate
                }
            }
        }
    }

    /// Every such call from now on, until ``recover()``.
    func always(_ fate: Fate, when applies: @escaping @Sendable (DeviceRoute) -> Bool) {
        fates.withLock { $0.append { applies($0) ? fate : nil } }
    }

    func recover() { fates.withLock { $0 = [] } }

    func count(_ applies: (DeviceRoute) -> Bool) -> Int {
        state.withLock { $0.calls.filter(applies).count }
    }

    func send(_ call: DeviceCall) async throws(TransportFailure) -> DeviceReply {
        state.withLock { $0.calls.append(call.route) }
        let fate = fates.withLock { fates -> Fate? in
            for fate in fates {
                if let fate = fate(call.route) { return fate }
            }
            return nil
        }
        switch fate ?? .pass {
        case .pass: return answer(call)
        case .lost(let failure): throw failure
        case .replyLost(let failure):
            _ = answer(call)
            throw failure
        case .answered(let reply): return reply
        case .replyReplaced(let reply):
            _ = answer(call)
            return reply
        }
    }

    func fetch(
        _ fetch: ContentFetch, into sink: any ContentSink
    ) async throws(TransportFailure) -> Int {
        try await content.fetch(fetch, into: sink)
    }

    /// Sells without any device asking.
    func sellElsewhere(_ product: String, purchaseID: String? = nil) {
        state.withLock { state in
            sell(product, 1, purchaseID: purchaseID, &state)
        }
    }

    /// Sells something that lasts, which another device has finished.
    func sellForGood(
        _ product: String, _ type: String = "Non-Consumable", original: String? = nil,
        token: String? = nil
    ) {
        state.withLock { state in
            sell(product, 1, purchaseID: nil, &state)
            let last = state.sales.indices.last ?? 0
            state.sales[last].isFinished = true
            state.sales[last].payload.type = type
            state.sales[last].payload.appAccountToken = token
            if let original { state.sales[last].payload.originalTransactionId = original }
        }
    }

    private func answer(_ call: DeviceCall) -> DeviceReply {
        state.withLock { state in
            if case .signIn = call.route { return signIn(&state) }
            guard state.validTokens.contains(call.token ?? "") else {
                return refused(401, WireError(code: "unauthorised", message: "No session."))
            }
            switch call.route {
            case .signIn: return signIn(&state)
            case .products: return products(call, state)
            case .offer:
                guard let quoted = state.quoted else {
                    return refused(409, WireError(code: "offerUnknown", message: "No such offer."))
                }
                state.quotes.append(String(decoding: call.body ?? [], as: UTF8.self))
                return reply(description(quoted, state.products[quoted] ?? 0))
            case .purchase(let id):
                state.buyers.append(state.owners[call.token ?? ""])
                return purchase(id, call, &state)
            case .transactions(let since, _, _):
                if state.hidesSales { return transactions(since, State()) }
                if state.sales.contains(where: { $0.revision > since }) {
                    state.pagesWithSales += 1
                }
                return transactions(since, state)
            case .finish(let id): return finish(id, &state)
            case .priceIncreases:
                return reply(PriceIncreasesResponse(increases: state.increases))
            case .consent(let id):
                let asked = try? JSONDecoder().decode(
                    PriceConsentRequest.self, from: Data(call.body ?? []))
                state.increases.removeAll { $0.subscriptionId == id }
                state.consents.append("\(id) \(asked?.price ?? 0)")
                return reply(PriceConsentResponse(subscriptionId: id, price: asked?.price ?? 0))
            case .content:
                let (status, answer) = content.link(call)
                return DeviceReply(status: status, body: reply(answer).body)
            case .promotionOverrides, .orderPromotions, .showPromotion, .claimIntents,
                .decideIntent:
                return refused(404, WireError(code: "productIdUnknown", message: "None."))
            case .reviewRequest:
                state.reviewQuestions.append(String(decoding: call.body ?? [], as: UTF8.self))
                return reply(ReviewQuestionResponse(asks: state.asksForReview, appName: "Beaches"))
            case .review:
                state.reviews.append(String(decoding: call.body ?? [], as: UTF8.self))
                return reply(
                    ReviewResponse(stars: 4, reviewedDate: Timestamp(milliseconds: 1)))
            case .requestRefund:
                return refused(404, WireError(code: "transactionNotFound", message: "None."))
            case .receipt:
                state.etagsAsked.append(call.ifNoneMatch)
                let etag = "\"\(state.customer)-\(state.revision)\""
                if call.ifNoneMatch == etag { return DeviceReply(status: 304, etag: etag) }
                let ids = state.sales.compactMap(\.payload.transactionId).joined(separator: " ")
                return DeviceReply(status: 200, body: Array("receipt \(ids)".utf8), etag: etag)
            }
        }
    }

    private func signIn(_ state: inout State) -> DeviceReply {
        state.sessions += 1
        let token = "token-\(state.sessions)"
        state.validTokens.insert(token)
        state.owners[token] = state.customer
        var response = SignInResponse(
            token: token,
            tokenExpires: Timestamp(milliseconds: 4_000_000_000_000),
            customerId: state.customer, customerName: "blob", bundleId: "com.example.app",
            appAppleId: nil,
            realm: RealmDescription(
                id: state.realm, name: "default", environment: state.environment,
                generation: state.generation),
            storefront: state.storefront, appTransactionId: "4000000000000001",
            canMakePayments: state.mayBuy,
            rootCertificate: Data(authority.root).base64EncodedString(), now: state.now,
            disablesDialogs: state.disablesDialogs.signIn)
        if !state.increases.isEmpty { response.asksPriceConsent = true }
        return reply(response)
    }

    private func products(_ call: DeviceCall, _ state: State) -> DeviceReply {
        let asked = try? JSONDecoder().decode(ProductsRequest.self, from: Data(call.body ?? []))
        let ids = asked?.ids ?? []
        return reply(
            ProductsResponse(
                products: ids.compactMap { id in
                    state.products[id].map { price in
                        var product = description(id, price)
                        state.describe?(&product)
                        return product
                    }
                },
                invalid: ids.filter { state.products[$0] == nil }
                    .map { InvalidProduct(id: $0, reason: "the catalogue has no such id") },
                storefront: state.storefront, disablesDialogs: state.disablesDialogs.products))
    }

    private func purchase(
        _ id: String, _ call: DeviceCall, _ state: inout State
    ) -> DeviceReply {
        guard
            let asked = try? JSONDecoder().decode(
                PurchaseRequest.self, from: Data(call.body ?? []))
        else { return DeviceReply(status: 400) }
        if let known = state.purchases[id] {
            guard known == asked else {
                return refused(
                    409, WireError(code: "purchaseIdReused", message: "Used.", field: "quantity"))
            }
        }
        state.purchases[id] = asked
        let revision = state.revision
        if let refusal = state.refusal {
            return reply(
                PurchaseResponse(state: "refused", refusal: refusal, revision: revision))
        }
        if state.waits {
            return reply(
                PurchaseResponse(state: "waiting", waitingFor: "approval", revision: revision))
        }
        let price = state.products[asked.productId] ?? 0
        guard price == asked.unitPrice else {
            return reply(
                PurchaseResponse(
                    state: "refused",
                    refusal: WireError(code: "priceChanged", message: "The price has changed."),
                    product: description(asked.productId, price), revision: revision))
        }
        if !state.sales.contains(where: { $0.purchaseID == id }) {
            sell(asked.productId, asked.quantity, purchaseID: id, &state)
        }
        let sale = state.sales.first { $0.purchaseID == id }
        var response = PurchaseResponse(
            state: "sold", signedTransaction: sale.map { sign($0, state) },
            revision: state.revision)
        response.content = content.description
        return reply(response)
    }

    private func sell(
        _ product: String, _ quantity: Int, purchaseID: String?, _ state: inout State
    ) {
        state.revision += 1
        var payload = JWSTransactionDecodedPayload()
        payload.transactionId = "\(2_000_000_000_000_000 + state.revision)"
        payload.originalTransactionId = payload.transactionId
        payload.bundleId = "com.example.app"
        payload.productId = product
        payload.quantity = quantity
        payload.purchaseDate = state.now
        payload.environment = "Sandbox"
        state.sales.append(
            Sale(purchaseID: purchaseID, payload: payload, revision: state.revision))
    }

    private func transactions(_ since: Int64, _ state: State) -> DeviceReply {
        let newer = state.sales.filter { $0.revision > since }
        let shown = newer.prefix(state.pageMax)
        let isMore = shown.count < newer.count
        return reply(
            TransactionsResponse(
                transactions: shown.map { sale in
                    TransactionDescription(
                        signedTransaction: sign(sale, state), purchaseId: sale.purchaseID,
                        isFinished: sale.isFinished, revision: sale.revision,
                        content: content.description)
                },
                revision: (isMore ? shown.last?.revision : nil) ?? state.revision,
                hasMore: isMore, now: state.now))
    }

    private func finish(_ id: String, _ state: inout State) -> DeviceReply {
        guard let index = state.sales.firstIndex(where: { $0.payload.transactionId == id }) else {
            return refused(404, WireError(code: "transactionNotFound", message: "None such."))
        }
        state.sales[index].isFinished = true
        return reply(FinishResponse(transactionId: id, revision: state.revision))
    }

    private func sign(_ sale: Sale, _ state: State) -> String {
        var payload = sale.payload
        payload.signedDate = state.now
        state.forge?(&payload)
        let signer = signer.withLock { $0 } ?? authority.transactions
        return (try? signer.sign(payload)) ?? ""
    }

    private func description(_ id: String, _ price: Int64) -> ProductDescription {
        ProductDescription(
            id: id, type: "Consumable", displayName: "Title of \(id)",
            description: "Words for \(id)", price: price, currency: "USD",
            priceLocale: "en_US@currency=USD", isFamilyShareable: false, isSold: true)
    }

    /// Moves the customer to another storefront, where everything costs more.
    func move(to country: String) {
        state.withLock { state in
            state.storefront.countryCode = country
            state.storefront.id = "1"
            for id in state.products.keys { state.products[id]? += 1000 }
        }
    }

    /// As the store, or a proxy, says no to a call.
    static func refusal(_ status: Int, _ code: String) -> DeviceReply {
        DeviceReply(
            status: status, body: Array(#"{"code":"\#(code)","message":"No."}"#.utf8))
    }

    private func reply(_ value: some Encodable) -> DeviceReply {
        DeviceReply(status: 200, body: (try? JSONEncoder().encode(value)).map { [UInt8]($0) } ?? [])
    }

    private func refused(_ status: Int, _ error: WireError) -> DeviceReply {
        DeviceReply(
            status: status, body: (try? JSONEncoder().encode(error)).map { [UInt8]($0) } ?? [])
    }
}

extension DeviceRoute {
    var isPurchase: Bool { if case .purchase = self { true } else { false } }
    var isFinish: Bool { if case .finish = self { true } else { false } }
    var isTransactions: Bool { if case .transactions = self { true } else { false } }
}
