// SPDX-License-Identifier: Apache-2.0

import Commerce
import SignedData
import Storage
public import StoreWire
import StrictJSON

/// A server of the merchant's that a ledger reports to.
public struct WebhookEndpoint: Sendable {
    public let url: String
    let secret: WebhookSecret
    /// Whether a message waits for the earlier ones of its account.
    let isOrdered: Bool
    /// Nil for all.
    let events: Set<WebhookEvent>?

    /// `secret` is `whsec_` and Base64. Throws ``WireError`` `webhookSecretInvalid`.
    public init(
        url: String, secret: String, isOrdered: Bool = false, events: Set<WebhookEvent>? = nil
    ) throws(WireError) {
        self.url = url
        self.isOrdered = isOrdered
        self.events = events
        do { self.secret = try WebhookSecret(secret) } catch {
            throw WireError(
                code: "webhookSecretInvalid", message: "This is no webhook's secret.",
                field: "secret", rule: error.message,
                remedy: "make one, such as `whsec_$(openssl rand -base64 32)`")
        }
    }
}

extension WebhookEndpoint {
    /// Returns when the next message is due that waits for no other one. Nil without one.
    func nextDue(_ reading: any Reading) throws -> Int64? {
        try reading.first(
            Statement.Webhooks.due,
            [.text(url), .integer(.max), .boolean(isOrdered), .integer(1)]
        )?.integer("due_at")
    }
}

/// The limits of a message.
enum WebhookMessage {
    static let bytesMax = 65_536
    /// How long a message that arrived is kept, to be sent again on request.
    static let keptMilliseconds: Int64 = 30 * 86_400_000

    /// What is sent, as Standard Webhooks recommends it.
    struct Body<Contents: Encodable>: Encodable {
        let type: String
        let timestamp: String
        let data: Contents
    }
}

/// Writes messages to the merchant's servers in the commit of their event.
struct WebhookOutbox: Sendable {
    static let none = WebhookOutbox(endpoints: [], randomness: nil)

    let endpoints: [WebhookEndpoint]
    let randomness: Randomness?

    /// The account's line is locked, where there is one.
    func post(
        _ event: WebhookEvent, account: String?, _ contents: some Encodable,
        at now: Timestamp, _ writing: any Writing
    ) throws {
        let wanting = endpoints.filter { $0.events?.contains(event) ?? true }
        guard !wanting.isEmpty, let randomness else { return }
        let body = WebhookMessage.Body(
            type: event.rawValue, timestamp: "\(now)", data: contents)
        let text = String(decoding: try StrictJSON.encode(body), as: UTF8.self)
        let id = "msg_\(randomness.hex(16))"
        for endpoint in wanting {
            let place: [SQLValue] = [.text(account ?? ""), .text(endpoint.url)]
            let last = account == nil ? nil : try writing.first(Statement.Webhooks.last, place)
            let number = try last?.optionalInteger("number") ?? 0
            try writing.execute(
                Statement.Webhooks.owe,
                LedgerSchema.webhooks.row([
                    "url": .text(endpoint.url), "message_id": .text(id),
                    "event": .text(event.rawValue), "account": .text(account ?? ""),
                    "number": .integer(number + 1), "body": .text(text),
                    "created_at": .integer(now.milliseconds),
                    "owed_at": .integer(now.milliseconds),
                    "due_at": .integer(now.milliseconds), "attempt": .integer(0),
                ]))
        }
    }
}

extension Ledger {
    var outbox: WebhookOutbox {
        configuration.webhooks.isEmpty
            ? .none
            : WebhookOutbox(endpoints: configuration.webhooks, randomness: ports.randomness)
    }
}
