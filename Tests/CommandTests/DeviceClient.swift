// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreWire
import TestSupport
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The device protocol over HTTP, by hand: a signed-in customer of the store
/// that serves a data directory.
struct DeviceClient: Sendable {
    private struct Run: Decodable { let url: String }

    let url: String
    let token: String

    init(_ data: String, customer: String? = nil) async throws {
        let file = URL(fileURLWithPath: data + "/run.json")
        url = try JSONDecoder().decode(Run.self, from: Data(contentsOf: file)).url
        let request = SignInRequest(
            deviceUUID: UUID().uuidString.lowercased(), customer: customer)
        token = try await Self.send(
            url, .signIn, try JSONEncoder().encode(request), nil, as: SignInResponse.self
        ).token
    }

    /// The same session at another server of the same store.
    init(_ device: DeviceClient, at data: String) throws {
        let file = URL(fileURLWithPath: data + "/run.json")
        url = try JSONDecoder().decode(Run.self, from: Data(contentsOf: file)).url
        token = device.token
    }

    /// Buys a pack of 5 or 10 credits.
    func purchase(_ id: String, pack: Int = 5) async throws -> PurchaseResponse {
        let request = PurchaseRequest(
            productId: "com.example.monkeycredits.credits\(pack)", quantity: 1,
            unitPrice: pack == 5 ? 990 : 1790, currency: "USD")
        return try await Self.send(
            url, .purchase(id: id), try JSONEncoder().encode(request), token,
            as: PurchaseResponse.self)
    }

    /// Rates the app.
    func review(stars: Int, text: String) async throws {
        _ = try await Self.send(
            url, .review, try JSONEncoder().encode(ReviewRequest(stars: stars, text: text)), token,
            as: ReviewResponse.self)
    }

    func transactions(since: Int64, waitSeconds: Int) async throws -> TransactionsResponse {
        try await Self.send(
            url, .transactions(since: since, waitSeconds: waitSeconds), nil, token,
            as: TransactionsResponse.self)
    }

    private static func send<Answer: Decodable>(
        _ url: String, _ route: DeviceRoute, _ body: Data?, _ token: String?, as: Answer.Type
    ) async throws -> Answer {
        var request = URLRequest(url: try #require(URL(string: url + route.path)))
        request.httpMethod = route.method
        request.httpBody = body
        request.timeoutInterval = Double(Patience.seconds)
        if body != nil { request.setValue("application/json", forHTTPHeaderField: "Content-Type") }
        if let token { request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization") }
        let (bytes, response) = try await URLSession.shared.data(for: request)
        let status = (response as? HTTPURLResponse)?.statusCode ?? 0
        guard status == 200 else {
            throw Unexpected("\(status): \(String(decoding: bytes, as: UTF8.self))")
        }
        return try JSONDecoder().decode(Answer.self, from: bytes)
    }
}
