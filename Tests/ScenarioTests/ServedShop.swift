// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import Live
import Logging
import PurchaseKit
import PurchaseKitTesting
import Shop
import ShopServer
import StoreWire
import TestSupport
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A test's store behind a real HTTP server, with devices that ask it there and commands
/// as an operator or a tester gives them.
struct ServedShop: Sendable {
    let shop: TestShop
    private let url: URL
    var address: String { url.absoluteString }

    /// Serves the store while `body` runs.
    static func with(
        _ shop: TestShop, _ body: (ServedShop) async throws -> Void
    ) async throws {
        var configuration = try ShopServerConfiguration(port: 0)
        configuration.stopsOnSignals = false
        let server = ShopServer(
            store: shop.store, configuration: configuration, route: RealmRoute(),
            ports: ShopServerPorts(
                sleep: { try await Live.sleep($0) }, monotonic: Live.monotonic,
                randomness: .seeded(7)),
            logger: Logger(label: "served") { _ in SwiftLogNoOpLogHandler() })
        let (ready, told) = AsyncStream.makeStream(of: Int.self)
        let running = Task {
            defer { told.finish() }
            try await server.run { port, _ in told.yield(port) }
        }
        defer { running.cancel() }
        for await port in ready {
            let url = try #require(URL(string: "http://127.0.0.1:\(port)"))
            try await body(ServedShop(shop: shop, url: url))
            await shop.close()
            running.cancel()
            _ = try? await running.value
            return
        }
        try await running.value
    }

    /// A device that reaches the store over HTTP, through the wire's faults.
    func device(
        customer: String? = nil, sheet: TestSheet = TestSheet(),
        options: TestDevice.Options = TestDevice.Options()
    ) async throws -> TestDevice {
        let (wire, url) = (shop.wire, url)
        return try await shop.device(customer: customer, sheet: sheet, options: options) {
            $0.transport = wire.transport(over: HTTPTransport(storeURL: url))
        }
    }

    /// Gives a command, and returns the answer's body.
    @discardableResult
    func command(_ method: String, _ path: String, _ body: some Encodable) async throws -> Data {
        try await send(method, path, try JSONEncoder().encode(body))
    }

    @discardableResult
    func command(_ method: String, _ path: String) async throws -> Data {
        try await send(method, path, nil)
    }

    private func send(_ method: String, _ path: String, _ body: Data?) async throws -> Data {
        var request = URLRequest(url: try #require(URL(string: url.absoluteString + path)))
        request.httpMethod = method
        if let body {
            request.httpBody = body
            request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        }
        let key = try await shop.store.doorKey(path.hasPrefix("/control") ? .control : .operator)
        request.setValue("Bearer \(key)", forHTTPHeaderField: "Authorization")
        let (data, response) = try await URLSession.shared.data(for: request)
        let status = try #require((response as? HTTPURLResponse)?.statusCode)
        #expect((200..<300).contains(status), "\(path): \(String(decoding: data, as: UTF8.self))")
        return data
    }

    /// What an operator reads.
    func ask<Answer: Decodable>(_ path: String, as type: Answer.Type) async throws -> Answer {
        try JSONDecoder().decode(type, from: try await command("GET", path))
    }

    /// The number of a customer.
    func number(_ name: String) async throws -> String {
        struct Customers: Decodable { let customers: [CustomerSummary] }
        let all = try await ask("/operator/v1/customers", as: Customers.self).customers
        return try #require(all.first { $0.name == name }).customerId
    }
}
