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
    static let table = RouteTable<LedgerAccess, LedgerVisit>(open + accounts + reservations)

    private static let open: [LedgerRoute] = [
        LedgerRoute("GET", "/health", .probe) { _ in try .json(ServerStatus(status: "ok")) },
        LedgerRoute("GET", "/ready", .probe) { try await ready($0) },
        LedgerRoute("GET", "/metrics", .metrics) { metrics($0) },
        LedgerRoute("POST", "/ledger/v1/notifications", .signed) {
            let body = try await $0.body(ResponseBodyV2.self)
            return try .json(try await $0.ledger.take(body, requestID: $0.call.requestID))
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
            return try .json(try await $0.ledger.take(body, requestID: $0.call.requestID))
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
        ]
        return visit.call.figures.response(figures, commits: counts.commits)
    }
}
