// SPDX-License-Identifier: Apache-2.0

import Commerce
import HTTPShell
import Hummingbird
import Ledger
import StoreWire

typealias LedgerRoute = ServerRoute<LedgerAccess, LedgerVisit>

/// The holders of which key may use a route of the ledger.
enum LedgerAccess: Hashable, Sendable {
    /// Everyone, also load balancers without the proxy in between.
    case probe
    /// Everyone. What is booked is signed by a store, or confirmed by it.
    case signed
    /// Everyone. The answer contains no secret.
    case open
    /// The merchant's own servers.
    case merchant
    /// They, and apps with a token of the account.
    case app
    /// Those that collect the metrics.
    case metrics
}

/// The caller, by the key.
enum LedgerCaller: Hashable, Sendable {
    case anyone
    /// A server of the merchant's, or a command.
    case server(LedgerActor)
    /// Someone with a token of this account.
    case account(String)

    /// Nil if the caller's changes are not in the audit.
    var actor: LedgerActor? { if case .server(let actor) = self { actor } else { nil } }
}

/// A call of a route, whose key was checked.
struct LedgerVisit: Sendable {
    let ledger: Ledger
    let call: Call
    /// The variable parts of the path.
    let parts: PathParts
    let caller: LedgerCaller

    /// Returns the account of the path. Refusal: `accountUnknown`, for every account
    /// but that of the caller's token.
    func account() throws -> String {
        try own(parts[0]) ?? parts[0]
    }

    /// Returns the account that a body names, or that of the caller's token. Refusal:
    /// as for ``account()``.
    func own(_ named: String?) throws -> String? {
        guard case .account(let own) = caller else { return named }
        if let named, (try? Ledger.accountName(named))?.isSame(as: own) != true {
            throw Ledger.accountUnknown
        }
        return own
    }

    /// Decodes the body as JSON.
    func body<Value: Decodable>(_ type: Value.Type = Value.self) async throws -> Value {
        try await call.body(type)
    }

    /// Returns a query parameter that is a number. Nil if it is missing.
    func number(_ field: String) throws -> Int? {
        guard let text = call.query(field) else { return nil }
        guard let number = Int(text), number >= 0 else {
            throw RequestMistake.queryInvalid(
                field: field, rule: "a whole number, not negative",
                remedy: "send one, or leave it out")
        }
        return number
    }
}

/// Every route of the ledger.
enum LedgerRoutes {
    static let table = RouteTable<LedgerAccess, LedgerVisit>(
        open + accounts + reservations + grants + roads + access)

    private static let access: [LedgerRoute] = [
        LedgerRoute("POST", "/ledger/v1/accounts/{}/restores", .app) {
            try .json(
                try await $0.ledger.restore(
                    try await $0.body(), account: try $0.account(),
                    requestID: $0.call.requestID))
        },
        LedgerRoute("POST", "/ledger/v1/accounts/{}/merge", .merchant) {
            try .json(
                try await $0.ledger.merge(
                    try await $0.body(), account: $0.parts[0], requestID: $0.call.requestID))
        },
        LedgerRoute("GET", "/ledger/v1/accounts/{}/export", .merchant) {
            try .json(try await $0.ledger.export(account: $0.parts[0]))
        },
        LedgerRoute("POST", "/ledger/v1/accounts/{}/erasure", .merchant) {
            try .json(
                try await $0.ledger.erase(
                    account: $0.parts[0], requestID: $0.call.requestID))
        },
        LedgerRoute("POST", "/ledger/v1/api-keys", .merchant) {
            try .json(try await $0.ledger.createKey(try await $0.body()))
        },
        LedgerRoute("GET", "/ledger/v1/api-keys", .merchant) {
            try .json(try await $0.ledger.keys())
        },
        LedgerRoute("POST", "/ledger/v1/api-keys/{}/revoke", .merchant) {
            try .json(try await $0.ledger.revokeKey($0.parts[0]))
        },
        LedgerRoute("GET", "/ledger/v1/webhooks", .merchant) {
            try .json(
                try await $0.ledger.webhooks(
                    url: $0.call.query("url"), state: $0.call.query("state"),
                    after: $0.call.query("after"), limit: try $0.number("limit")))
        },
        LedgerRoute("POST", "/ledger/v1/webhooks/replay", .merchant) {
            try .json(try await $0.ledger.replayWebhooks(try await $0.body()))
        },
        LedgerRoute("POST", "/ledger/v1/webhooks/park", .merchant) {
            try .json(try await $0.ledger.parkWebhooks(try await $0.body()))
        },
        LedgerRoute("GET", "/ledger/v1/audit", .merchant) {
            try .json(
                try await $0.ledger.audit(
                    account: $0.call.query("account"), after: $0.call.query("after"),
                    limit: try $0.number("limit")))
        },
        LedgerRoute("POST", "/ledger/v1/accounts/{}/tokens", .merchant) {
            try .json(
                try $0.ledger.issueToken(try await $0.body(), account: $0.parts[0]))
        },
    ]

    private static let open: [LedgerRoute] = [
        LedgerRoute("GET", "/health", .probe) { _ in try .json(ServerStatus(status: "ok")) },
        LedgerRoute("GET", "/ready", .probe) { try await ready($0) },
        LedgerRoute("GET", "/metrics", .metrics) { metrics($0) },
        LedgerRoute("POST", "/ledger/v1/notifications", .signed) {
            let body = try await $0.call.jsonBytes(max: Ledger.notificationBytesMax)
            return try .json(
                try await $0.ledger.take(
                    notificationBody: body, requestID: $0.call.requestID))
        },
    ]

    private static let grants: [LedgerRoute] = [
        LedgerRoute("GET", "/ledger/v1/keys", .open) { try .json($0.ledger.publicKeys) },
        LedgerRoute("GET", EntitlementAnswers.pattern, .app) {
            try await EntitlementAnswers.now($0)
        },
        LedgerRoute("GET", "/ledger/v1/accounts/{}/entitlements/{}", .app) {
            try .json(
                try await $0.ledger.reason(
                    account: try $0.account(), entitlement: $0.parts[1],
                    environment: $0.call.query("environment")))
        },
        LedgerRoute("GET", "/ledger/v1/accounts/{}/signed-entitlements", .app) {
            try .json(
                try await $0.ledger.signedEntitlements(
                    account: try $0.account(), environment: $0.call.query("environment"),
                    seconds: try $0.number("seconds")))
        },
        LedgerRoute("GET", "/ledger/v1/accounts/{}/balances", .app) {
            try .json(
                try await $0.ledger.balances(
                    account: try $0.account(), environment: $0.call.query("environment")))
        },
        LedgerRoute("POST", "/ledger/v1/accounts/{}/spendings", .merchant) {
            try .json(
                try await $0.ledger.spend(
                    try await $0.body(), account: $0.parts[0], requestID: $0.call.requestID))
        },
        LedgerRoute("GET", "/ledger/v1/accounts/{}/history", .app) {
            try .json(
                try await $0.ledger.history(
                    account: try $0.account(), environment: $0.call.query("environment"),
                    after: $0.call.query("after"), limit: try $0.number("limit")))
        },
        LedgerRoute("GET", "/ledger/v1/products", .merchant) {
            try .json(try await $0.ledger.products())
        },
        LedgerRoute("POST", "/ledger/v1/apply", .merchant) {
            try .json(try await $0.ledger.applyGrants(requestID: $0.call.requestID))
        },
    ]

    private static let accounts: [LedgerRoute] = [
        LedgerRoute("POST", "/ledger/v1/purchases", .app) {
            let body = try await $0.body(TakePurchaseRequest.self)
            let request = TakePurchaseRequest(
                signedTransaction: body.signedTransaction, account: try $0.own(body.account))
            return try .json(try await $0.ledger.take(request, requestID: $0.call.requestID))
        },
        LedgerRoute("POST", "/ledger/v1/receipts", .app) {
            let body = try await $0.call.body(
                TakeReceiptRequest.self, max: Self.receiptBodyBytesMax)
            let request = TakeReceiptRequest(
                receipt: body.receipt, account: try $0.own(body.account), mode: body.mode)
            return try outcome(
                try await $0.ledger.present(request, requestID: $0.call.requestID))
        },
        LedgerRoute("GET", "/ledger/v1/accounts/{}/unspent", .app) {
            try .json(
                try await $0.ledger.unspent(
                    account: try $0.account(), environment: $0.call.query("environment"),
                    after: $0.call.query("after"), limit: try $0.number("limit")))
        },
        LedgerRoute("POST", "/ledger/v1/accounts/{}/redemptions", .merchant) {
            try .json(
                try await $0.ledger.redeem(
                    try await $0.body(), account: $0.parts[0], requestID: $0.call.requestID))
        },
    ]

    private static let reservations: [LedgerRoute] = [
        LedgerRoute("POST", "/ledger/v1/accounts/{}/reservations", .merchant) {
            try .json(
                try await $0.ledger.reserve(
                    try await $0.body(), account: $0.parts[0], requestID: $0.call.requestID))
        },
        LedgerRoute("POST", "/ledger/v1/accounts/{}/reservations/{}/confirm", .merchant) {
            try .json(
                try await $0.ledger.confirm(
                    reservation: $0.parts[1], account: $0.parts[0],
                    requestID: $0.call.requestID))
        },
        LedgerRoute("POST", "/ledger/v1/accounts/{}/reservations/{}/release", .merchant) {
            try .json(
                try await $0.ledger.release(
                    reservation: $0.parts[1], account: $0.parts[0],
                    requestID: $0.call.requestID))
        },
    ]

    private static let roads: [LedgerRoute] = [
        // A number can be guessed, so for an app it proves nothing.
        LedgerRoute("POST", "/ledger/v1/transactions", .merchant) {
            let body = try await $0.body(TakeTransactionRequest.self)
            return try outcome(try await $0.ledger.take(body, requestID: $0.call.requestID))
        },
        LedgerRoute("GET", "/ledger/v1/accounts/{}/proofs", .app) {
            try .json(try await $0.ledger.waitingProofs(account: try $0.account()))
        },
        LedgerRoute("POST", "/ledger/v1/reconciliations", .merchant) {
            try .json(try await $0.ledger.reconcile(try await $0.body(ReconcileRequest.self)))
        },
        LedgerRoute("GET", "/ledger/v1/forwards", .merchant) {
            try .json(try await $0.ledger.forwards())
        },
        LedgerRoute("POST", "/ledger/v1/forwards/unpark", .merchant) {
            try .json(try await $0.ledger.unpark(try await $0.body(UnparkRequest.self)))
        },
    ]

    /// A proof that is kept for later is accepted, and not done.
    private static func outcome(
        _ outcome: ProofOutcome<some Encodable>
    ) throws -> Response {
        switch outcome {
        case .taken(let taken): try .json(taken)
        case .kept(let kept): try .json(kept, status: 202)
        }
    }

    /// A receipt of three megabytes in Base64.
    private static let receiptBodyBytesMax = 4_500_000

    private static func ready(_ visit: LedgerVisit) async throws -> Response {
        let (ledger, call) = (visit.ledger, visit.call)
        try call.checkReadiness()
        let late = RequestMistake.notReady(reason: "The storage does not answer.")
        do {
            try await call.ports.deadline(call.configuration.readyTimeout, or: late) {
                try await ledger.checkStorage()
            }
        } catch { throw RequestMistake.unready(error) }
        return try .json(ServerStatus(status: "ready"))
    }

    /// Returns the figures of this process in Prometheus' text format.
    private static func metrics(_ visit: LedgerVisit) -> Response {
        let counts = visit.ledger.counts
        let figures = [
            Figure(
                "shopkeeper_ledger_taken_total", .counter, "Proofs that changed the book.",
                [.init(Double(counts.taken))]),
            Figure(
                "shopkeeper_ledger_redeemed_total", .counter, "Units that were spent.",
                [.init(Double(counts.redeemed))]),
            Figure(
                "shopkeeper_ledger_gaps_filled_total", .counter,
                "Missed notifications that were found in a store's history.",
                [.init(Double(counts.gapsFilled))]),
        ]
        return visit.call.figures.response(figures, commits: counts.commits)
    }
}
