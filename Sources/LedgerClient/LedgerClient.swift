// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import StoreWire
import Synchronization

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// A client of a ledger, for the merchant's servers and apps.
///
/// ```swift
/// let ledger = LedgerClient(url: url, key: key)
/// if try await ledger.isEntitled("blob", to: "pro") { … }
/// let spending = try await ledger.spend(
///     SpendRequest(idempotencyKey: order, currency: "coins", amount: 30, purpose: "a hat"),
///     account: "blob")
/// ```
///
/// Every call may be repeated: a spending and a redemption are done once for their
/// idempotency key. Throws ``LedgerClientError`` for what the ledger refuses, and
/// what the transport throws.
public struct LedgerClient: Sendable {
    /// Sends a request and returns the whole answer.
    public typealias Transport =
        @Sendable (URLRequest) async throws -> (body: Data, response: HTTPURLResponse)

    private let url: URL
    private let key: String
    private let accountToken: String?
    private let transport: Transport
    private let answers = KnownAnswers()

    /// `url` is the ledger's, such as `http://127.0.0.1:4790`. `key` is that of a server
    /// or, with the `accountToken` of its customer, that of an app.
    public init(
        url: URL, key: String, accountToken: String? = nil,
        transport: @escaping Transport = LedgerClient.urlSession()
    ) {
        self.url = url
        self.key = key
        self.accountToken = accountToken
        self.transport = transport
    }

    /// Sends requests by a session of Foundation.
    public static func urlSession(_ session: URLSession = .shared) -> Transport {
        { request in
            let (body, response) = try await session.data(for: request)
            guard let response = response as? HTTPURLResponse else {
                throw URLError(.badServerResponse)
            }
            return (body, response)
        }
    }

    // MARK: Entitlements

    /// Whether an account may use something now. `wait`: how many seconds to wait
    /// until it may, at most 60.
    public func isEntitled(
        _ account: String, to name: String, environment: String? = nil, wait: Int = 0
    ) async throws -> Bool {
        try await entitlements(
            account: account, environment: environment,
            wait: wait > 0 ? (name, wait) : nil
        ).entitlements.contains { $0.name == name && $0.isActive }
    }

    /// Returns what an account may use. An answer that has not changed does not
    /// travel again. `wait`: for which entitlement, and how many seconds.
    public func entitlements(
        account: String, environment: String? = nil, wait: (name: String, seconds: Int)? = nil
    ) async throws -> AccountEntitlements {
        var query = [("environment", environment)]
        if let wait {
            query += [("entitlement", wait.name), ("wait", "\(wait.seconds)")]
        }
        let plain = try address(["accounts", account, "entitlements"], [query[0]])
        var request = try request("GET", ["accounts", account, "entitlements"], query)
        request.timeoutInterval = 30 + Double(wait?.seconds ?? 0)
        let known = answers.answer(for: plain)
        if let known { request.setValue(known.tag, forHTTPHeaderField: "If-None-Match") }
        let (body, response) = try await transport(request)
        if response.statusCode == 304, let known { return known.value }
        let value = try decode(AccountEntitlements.self, body, response)
        if let tag = response.value(forHTTPHeaderField: "ETag") {
            answers.keep(KnownAnswers.Answer(tag: tag, value: value), for: plain)
        }
        return value
    }

    /// Returns whether an account has an entitlement, and which transaction grants it
    /// or what is missing.
    public func reason(
        account: String, entitlement: String, environment: String? = nil
    ) async throws -> EntitlementReason {
        try await get(
            ["accounts", account, "entitlements", entitlement], [("environment", environment)])
    }

    /// Returns the active entitlements, signed for an app without a connection.
    public func signedEntitlements(
        account: String, environment: String? = nil, seconds: Int? = nil
    ) async throws -> SignedEntitlements {
        try await get(
            ["accounts", account, "signed-entitlements"],
            [("environment", environment), ("seconds", seconds.map(String.init))])
    }

    /// Returns the keys by which signed entitlements are verified.
    public func publicKeys() async throws -> LedgerPublicKeys { try await get(["keys"], []) }

    // MARK: Credits and units

    public func balances(
        account: String, environment: String? = nil
    ) async throws -> AccountBalances {
        try await get(["accounts", account, "balances"], [("environment", environment)])
    }

    /// Spends credits, once for the request's idempotency key.
    public func spend(_ spending: SpendRequest, account: String) async throws -> LedgerSpending {
        try await post(["accounts", account, "spendings"], spending)
    }

    /// Spends one unit of a purchase, once for the request's idempotency key.
    public func redeem(
        _ redemption: RedeemRequest, account: String
    ) async throws -> LedgerRedemption {
        try await post(["accounts", account, "redemptions"], redemption)
    }

    /// Returns a page of what has happened in an account, the newest first.
    public func history(
        account: String, environment: String? = nil, after: String? = nil
    ) async throws -> AccountHistory {
        try await get(
            ["accounts", account, "history"], [("environment", environment), ("after", after)])
    }

    /// Asks for a token with which an app proves an account to the ledger. `seconds`: 1
    /// to 3,600; nil for 900.
    public func issueToken(
        account: String, seconds: Int? = nil
    ) async throws -> IssuedAccountToken {
        try await post(["accounts", account, "tokens"], AccountTokenRequest(seconds: seconds))
    }

    // MARK: Accounts

    /// Presents a purchase that may belong to another account, or asks what would change.
    public func restore(
        _ request: RestoreRequest, account: String
    ) async throws -> RestoreOutcome {
        try await post(["accounts", account, "restores"], request)
    }

    /// Makes an account part of another.
    public func merge(account: String, into: String) async throws -> AccountMerge {
        try await post(["accounts", account, "merge"], MergeAccountRequest(into: into))
    }

    /// Returns everything that the books have about an account.
    public func export(account: String) async throws -> AccountExport {
        try await get(["accounts", account, "export"], [])
    }

    /// Erases an account. Its books stay under an opaque name.
    public func erase(account: String) async throws -> AccountErasure {
        try await post(["accounts", account, "erasure"], [String: String]())
    }

    // MARK: Webhooks

    /// Returns a page of messages to the merchant's servers, the newest first. `state`:
    /// `waiting`, `sent` or `parked`; nil for all.
    public func webhooks(
        url: String? = nil, state: String? = nil, after: String? = nil
    ) async throws -> WebhookReports {
        try await get(["webhooks"], [("url", url), ("state", state), ("after", after)])
    }

    /// Sends messages again.
    public func replayWebhooks(_ request: WebhooksRequest) async throws -> WebhooksChanged {
        try await post(["webhooks", "replay"], request)
    }

    /// Keeps messages that wait from being sent. They are replayed on request.
    public func parkWebhooks(_ request: WebhooksRequest) async throws -> WebhooksChanged {
        try await post(["webhooks", "park"], request)
    }

    // MARK: Keys and audit

    /// Creates a key. The answer is the only place that ever contains its secret.
    public func createKey(_ request: CreateLedgerKeyRequest) async throws -> CreatedLedgerKey {
        try await post(["api-keys"], request)
    }

    /// Returns all keys, the oldest first, without their secrets.
    public func keys() async throws -> LedgerKeys { try await get(["api-keys"], []) }

    /// Revokes a key. A repeat changes nothing.
    public func revokeKey(_ keyID: String) async throws -> LedgerKeyRecord {
        try await post(["api-keys", keyID, "revoke"], [String: String]())
    }

    /// Returns a page of the changes that were made through server keys and commands, the
    /// newest first; with `account` only those of one account.
    public func audit(
        account: String? = nil, after: String? = nil, limit: Int? = nil
    ) async throws -> LedgerAudit {
        try await get(
            ["audit"],
            [("account", account), ("after", after), ("limit", limit.map(String.init))])
    }

    // MARK: Purchases

    /// Books a signed transaction, once.
    public func take(_ purchase: TakePurchaseRequest) async throws -> LedgerPurchase {
        try await post(["purchases"], purchase)
    }

    /// Books every purchase of an app receipt, once.
    public func take(_ receipt: TakeReceiptRequest) async throws -> ReceiptTaken {
        try await post(["receipts"], receipt)
    }
}

// MARK: Requests

extension LedgerClient {
    private func get<Answer: Decodable>(
        _ path: [String], _ query: [(String, String?)]
    ) async throws -> Answer {
        let (body, response) = try await transport(request("GET", path, query))
        return try decode(Answer.self, body, response)
    }

    private func post<Answer: Decodable>(
        _ path: [String], _ value: some Encodable
    ) async throws -> Answer {
        var request = try request("POST", path, [])
        request.httpBody = try JSONEncoder().encode(value)
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        let (body, response) = try await transport(request)
        return try decode(Answer.self, body, response)
    }

    private func request(
        _ method: String, _ path: [String], _ query: [(String, String?)]
    ) throws -> URLRequest {
        var request = URLRequest(url: try address(path, query))
        request.httpMethod = method
        request.setValue("Bearer \(key)", forHTTPHeaderField: "Authorization")
        if let accountToken {
            request.setValue(accountToken, forHTTPHeaderField: "Account-Token")
        }
        return request
    }

    /// Every part and value is percent-encoded as a whole, because an account may
    /// contain any character.
    private func address(_ path: [String], _ query: [(String, String?)]) throws -> URL {
        func encoded(_ text: String) throws -> String {
            guard !text.isEmpty,
                let encoded = text.addingPercentEncoding(withAllowedCharacters: .alphanumerics)
            else { throw URLError(.badURL) }
            return encoded
        }
        var text = url.absoluteString
        if text.hasSuffix("/") { text.removeLast() }
        text += "/ledger/v1"
        for part in path {
            // The words of an address have hyphens, which are no separators.
            text += "/" + (try encoded(part)).replacing("%2D", with: "-")
        }
        let words = try query.compactMap { name, value in
            try value.map { "\(name)=\(try encoded($0))" }
        }
        if !words.isEmpty { text += "?" + words.joined(separator: "&") }
        guard let address = URL(string: text) else { throw URLError(.badURL) }
        return address
    }

    private func decode<Answer: Decodable>(
        _ type: Answer.Type, _ body: Data, _ response: HTTPURLResponse
    ) throws -> Answer {
        guard response.statusCode == 200 else {
            let error = try? JSONDecoder().decode(WireError.self, from: body)
            throw LedgerClientError(
                status: response.statusCode,
                retryAfterSeconds: response.value(forHTTPHeaderField: "Retry-After")
                    .flatMap { Int($0) },
                error: error
                    ?? WireError(
                        code: "answerUnknown",
                        message: "The ledger answered with status \(response.statusCode)."))
        }
        return try JSONDecoder().decode(type, from: body)
    }
}

/// What the ledger refuses.
public struct LedgerClientError: Error, Hashable, Sendable {
    public let status: Int
    /// When the same request may succeed.
    public let retryAfterSeconds: Int?
    /// Code, sentence, field, rule and remedy.
    public let error: WireError
}

/// The last answers with their tags. A class, because copies of a client share it.
private final class KnownAnswers: Sendable {
    struct Answer: Sendable {
        let tag: String
        let value: AccountEntitlements
    }

    /// The most accounts that are remembered.
    static let answersMax = 1000
    private let known = Mutex<[URL: Answer]>([:])

    func answer(for url: URL) -> Answer? { known.withLock { $0[url] } }

    func keep(_ answer: Answer, for url: URL) {
        known.withLock { known in
            if known.count >= Self.answersMax, known[url] == nil { known = [:] }
            known[url] = answer
        }
    }
}
