// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import Outbound
import Shop

/// A payment processor that is a separate program, called over HTTP:
///
/// | call | answers |
/// | --- | --- |
/// | `POST URL/charges/KEY` `{"total":…,"currency":…,…}` | `{"key":KEY,"state":"approved","reference":…}` or `{"key":KEY,"state":"declined"}` |
/// | `GET URL/charges/KEY` | the same, or 404 if the charge is unknown |
/// | `POST URL/charges/KEY/capture` | `{"key":KEY,"state":"captured"}` |
/// | `POST URL/charges/KEY/void` | `{"key":KEY,"state":"voided"}` |
/// | `POST URL/charges/KEY/refunds/REFUND` `{"total":…,"currency":…}` | `{"key":KEY,"refund":REFUND,"state":"refunded"}`, or `"takenBack"` |
/// | `POST URL/charges/KEY/refunds/REFUND/take-back` | `{"key":KEY,"refund":REFUND,"state":"takenBack"}` |
///
/// With any other answer, or none, the outcome is unknown and nothing is
/// concluded. An answer contains its key and the new state. So an answer that
/// arrives twice, or late on a reused connection, is never mistaken for that of
/// another charge, nor the answer to a charge for that to its capture.
struct LiveProcessor: Authoriser {
    /// The URL before `/KEY`.
    private let charges: String
    private let client: OutboundClient

    /// How long an answer may take.
    var timeoutMilliseconds = 5_000

    /// The processor's answer is not one of the allowed ones.
    struct Unclear: Error {
        let status: Int
    }

    private struct Order: Encodable {
        let total: Int64
        let currency: String
        let customer: String
        let bundleId: String
        let productId: String
    }

    private struct Answer: Decodable {
        let key: String
        let state: String
        let reference: String?
        let refund: String?
    }

    private struct Return: Encodable {
        let total: Int64
        let currency: String
    }

    /// Throws ``Failure`` unless the address is HTTPS, or plain HTTP on this
    /// machine.
    init(url: String) throws {
        let parts = URLComponents(string: url)
        let host = parts?.host?.trimmingCharacters(in: ["[", "]"]) ?? ""
        let isHere = ["127.0.0.1", "::1", "localhost"].contains(host)
        let isPlain = parts?.scheme == "http"
        guard !host.isEmpty, parts?.scheme == "https" || isPlain && isHere, parts?.user == nil,
            parts?.query == nil, parts?.fragment == nil
        else {
            throw Failure(
                .usage, "processorInvalid", "The payment processor cannot be at \(url).",
                field: "--processor",
                rule: "an https address; plain http on a loopback address only",
                remedy: "name the address under which the processor answers /charges/KEY")
        }
        charges = (url.hasSuffix("/") ? String(url.dropLast()) : url) + "/charges/"
        client = OutboundClient(policy: .open)
    }

    func authorise(_ charge: Charge) async throws -> ChargeOutcome {
        let order = Order(
            total: charge.total.amount.milliunits, currency: charge.total.currency.code,
            customer: charge.customer.description, bundleId: charge.bundleID.description,
            productId: charge.productID.description)
        let answer = try await send("POST", charge.key, body: try JSONEncoder().encode(order))
        return try Self.outcome(answer, charge.key)
    }

    func outcome(of key: String) async throws -> ChargeOutcome? {
        let answer = try await send("GET", key)
        return answer.status == 404 ? nil : try Self.outcome(answer, key)
    }

    func capture(_ key: String) async throws { try await tell(key, "/capture", "captured") }

    func void(_ key: String) async throws { try await tell(key, "/void", "voided") }

    func refund(_ refund: RefundCharge) async throws {
        let sum = Return(
            total: refund.total.amount.milliunits, currency: refund.total.currency.code)
        try await tell(
            refund, "", ["refunded", "takenBack"], body: try JSONEncoder().encode(sum))
    }

    func takeBack(_ refund: RefundCharge) async throws {
        try await tell(refund, "/take-back", ["takenBack"])
    }

    private func tell(
        _ refund: RefundCharge, _ verb: String, _ states: [String], body: Data = Data()
    ) async throws {
        let answer = try await send(
            "POST", refund.key, verb: "/refunds/\(refund.refund)\(verb)", body: body)
        guard answer.status == 200,
            let done = try? JSONDecoder().decode(Answer.self, from: Data(answer.body)),
            done.key == refund.key, done.refund == refund.refund, states.contains(done.state)
        else { throw Unclear(status: answer.status) }
    }

    /// Returns once the processor has answered that the key is in `state`.
    private func tell(_ key: String, _ verb: String, _ state: String) async throws {
        let answer = try await send("POST", key, verb: verb)
        guard answer.status == 200,
            let done = try? JSONDecoder().decode(Answer.self, from: Data(answer.body)),
            done.key == key, done.state == state
        else { throw Unclear(status: answer.status) }
    }

    private func send(
        _ method: String, _ key: String, verb: String = "", body: Data = Data()
    ) async throws -> OutboundResponse {
        let plain = CharacterSet.alphanumerics.union(CharacterSet(charactersIn: "-._"))
        guard let name = key.addingPercentEncoding(withAllowedCharacters: plain) else {
            throw Unclear(status: 0)
        }
        var request = OutboundRequest(method, charges + name + verb, body: Array(body))
        if !body.isEmpty { request.headers = [.init("Content-Type", "application/json")] }
        request.timeoutMilliseconds = timeoutMilliseconds
        return try await client.send(request)
    }

    private static func outcome(
        _ response: OutboundResponse, _ key: String
    ) throws -> ChargeOutcome {
        guard response.status == 200,
            let answer = try? JSONDecoder().decode(Answer.self, from: Data(response.body)),
            answer.key == key
        else { throw Unclear(status: response.status) }
        switch (answer.state, answer.reference) {
        case ("approved", let reference?): return .approved(reference: reference)
        case ("declined", _): return .declined
        default: throw Unclear(status: response.status)
        }
    }
}
