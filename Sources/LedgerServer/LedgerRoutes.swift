// SPDX-License-Identifier: Apache-2.0

import HTTPShell
import Hummingbird
import Ledger
import StoreWire

typealias LedgerRoute = ServerRoute<LedgerAccess, LedgerVisit>

/// The holders of which key may use a route of the ledger.
enum LedgerAccess: Hashable, Sendable {
    /// Everyone, also load balancers without the proxy in between.
    case probe
    /// Everyone. The body is signed by a store; an unsigned one is rejected.
    case signed
    /// Everyone. The answer contains no secret.
    case open
    /// The merchant's own servers.
    case merchant
    /// Those that collect the metrics.
    case metrics
}

/// A call of a route, whose key was checked.
struct LedgerVisit: Sendable {
    let ledger: Ledger
    let call: Call
    /// The variable parts of the path.
    let parts: PathParts

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
        open + accounts + reservations + grants + roads)

    private static let open: [LedgerRoute] = [
        LedgerRoute("GET", "/health", .probe) { _ in try .json(ServerStatus(status: "ok")) },
        LedgerRoute("GET", "/ready", .probe) { try await ready($0) },
        LedgerRoute("GET", "/metrics", .metrics) { metrics($0) },
        LedgerRoute("POST", "/ledger/v1/notifications", .signed) {
            let body = try await $0.body(ResponseBodyV2.self)
            return try .json(try await $0.ledger.take(body, requestID: $0.call.requestID))
        },
    ]

    private static let grants: [LedgerRoute] = [
        LedgerRoute("GET", "/ledger/v1/keys", .open) { try .json($0.ledger.publicKeys) },
        LedgerRoute("GET", EntitlementAnswers.pattern, .merchant) {
            try await EntitlementAnswers.now($0)
        },
        LedgerRoute("GET", "/ledger/v1/accounts/{}/entitlements/{}", .merchant) {
            try .json(
                try await $0.ledger.reason(
                    account: $0.parts[0], entitlement: $0.parts[1],
                    environment: $0.call.query("environment")))
        },
        LedgerRoute("GET", "/ledger/v1/accounts/{}/signed-entitlements", .merchant) {
            try .json(
                try await $0.ledger.signedEntitlements(
                    account: $0.parts[0], environment: $0.call.query("environment"),
                    seconds: try $0.number("seconds")))
        },
        LedgerRoute("GET", "/ledger/v1/accounts/{}/balances", .merchant) {
            try .json(
                try await $0.ledger.balances(
                    account: $0.parts[0], environment: $0.call.query("environment")))
        },
        LedgerRoute("POST", "/ledger/v1/accounts/{}/spendings", .merchant) {
            try .json(
                try await $0.ledger.spend(
                    try await $0.body(), account: $0.parts[0], requestID: $0.call.requestID))
        },
        LedgerRoute("GET", "/ledger/v1/accounts/{}/history", .merchant) {
            try .json(
                try await $0.ledger.history(
                    account: $0.parts[0], environment: $0.call.query("environment"),
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
        LedgerRoute("POST", "/ledger/v1/purchases", .merchant) {
            let body = try await $0.body(TakePurchaseRequest.self)
            return try .json(try await $0.ledger.take(body, requestID: $0.call.requestID))
        },
        LedgerRoute("POST", "/ledger/v1/receipts", .merchant) {
            let body = try await $0.call.body(
                TakeReceiptRequest.self, max: Self.receiptBodyBytesMax)
            return try outcome(
                try await $0.ledger.present(body, requestID: $0.call.requestID))
        },
        LedgerRoute("GET", "/ledger/v1/accounts/{}/unspent", .merchant) {
            try .json(
                try await $0.ledger.unspent(
                    account: $0.parts[0], environment: $0.call.query("environment"),
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
        LedgerRoute("POST", "/ledger/v1/transactions", .merchant) {
            let body = try await $0.body(TakeTransactionRequest.self)
            return try outcome(try await $0.ledger.take(body, requestID: $0.call.requestID))
        },
        LedgerRoute("GET", "/ledger/v1/accounts/{}/proofs", .merchant) {
            try .json(try await $0.ledger.waitingProofs(account: $0.parts[0]))
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
