// SPDX-License-Identifier: Apache-2.0

import Foundation
import Outbound
import StoreWire

/// Calls a running store over HTTP. It connects to the store itself, without a
/// proxy, and does not follow redirects. So a key reaches only the store.
struct DoorClient: Sendable {
    let base: String
    let key: String?

    /// The time-out of a whole call. A store answers most calls in
    /// milliseconds, an import in seconds, a jump of the clock when its work is
    /// done.
    var timeoutMilliseconds = 60_000
    /// The time in which a store on this machine shows that it is alive. A
    /// process that was stopped or hangs still gets connections from the
    /// operating system, and a right answer may take longer.
    private static let signOfLifeMilliseconds = 15_000
    /// A catalogue of 10,000 products is about 10 MiB.
    private static let answerBytesMax = 64 * 1024 * 1024

    /// The path of a ledger's door.
    static let ledgerPath = "/ledger/v1"

    private static let client = OutboundClient(policy: .open)

    /// Returns a text as one part of a path.
    static func part(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    }

    func get<Answer: Decodable>(_ path: String, as type: Answer.Type) async throws -> Answer {
        try JSONDecoder().decode(type, from: try await send("GET", path, nil))
    }

    func post<Answer: Decodable>(
        _ path: String, _ body: some Encodable, as type: Answer.Type
    ) async throws -> Answer {
        try JSONDecoder().decode(
            type, from: try await send("POST", path, try JSONEncoder().encode(body)))
    }

    func put<Answer: Decodable>(
        _ path: String, _ body: some Encodable, as type: Answer.Type
    ) async throws -> Answer {
        try JSONDecoder().decode(
            type, from: try await send("PUT", path, try JSONEncoder().encode(body)))
    }

    func put<Answer: Decodable>(_ path: String, as type: Answer.Type) async throws -> Answer {
        try JSONDecoder().decode(type, from: try await send("PUT", path, nil))
    }

    func put(_ path: String, bytes: Data) async throws {
        _ = try await send("PUT", path, bytes)
    }

    func put<Answer: Decodable>(
        _ path: String, bytes: Data, as type: Answer.Type
    ) async throws -> Answer {
        try JSONDecoder().decode(type, from: try await send("PUT", path, bytes))
    }

    func patch<Answer: Decodable>(
        _ path: String, _ body: some Encodable, as type: Answer.Type
    ) async throws -> Answer {
        try JSONDecoder().decode(
            type, from: try await send("PATCH", path, try JSONEncoder().encode(body)))
    }

    func delete(_ path: String) async throws {
        _ = try await send("DELETE", path, nil)
    }

    func delete<Answer: Decodable>(_ path: String, as type: Answer.Type) async throws -> Answer {
        try JSONDecoder().decode(type, from: try await send("DELETE", path, nil))
    }

    func bytes(_ path: String) async throws -> Data {
        try await send("GET", path, nil)
    }

    private func send(_ method: String, _ path: String, _ body: Data?) async throws -> Data {
        // Foundation escapes characters that an address cannot contain.
        guard let url = URL(string: base + path) else {
            throw Failure(
                .usage, "urlInvalid", "\(base + path) is no URL.", rule: "an http or https URL",
                remedy: "check its spelling")
        }
        try await checkLife(of: url)
        var request = OutboundRequest(method, url.absoluteString, body: body.map(Array.init) ?? [])
        if body != nil { request.headers.append(.init("Content-Type", "application/json")) }
        if let key { request.headers.append(.init("Authorization", "Bearer \(key)")) }
        request.timeoutMilliseconds = timeoutMilliseconds
        request.bodyBytesMax = Self.answerBytesMax
        let answer: OutboundResponse
        do throws(OutboundFault) { answer = try await Self.client.send(request) } catch {
            throw unreachable(error)
        }
        let data = Data(answer.body)
        guard (200..<300).contains(answer.status) else { throw Self.failure(answer.status, data) }
        return data
    }

    /// Throws if a store on this machine does not answer at all. The answer to a
    /// request itself may take long, such as that to a jump of the clock.
    private func checkLife(of url: URL) async throws {
        let names = ["localhost", "127.0.0.1", "::1", "[::1]"]
        guard let host = url.host, names.contains(host),
            var parts = URLComponents(url: url, resolvingAgainstBaseURL: true)
        else { return }
        (parts.path, parts.query) = ("/health", nil)
        guard let health = parts.string else { return }
        var request = OutboundRequest("GET", health)
        request.timeoutMilliseconds = Self.signOfLifeMilliseconds
        do throws(OutboundFault) { _ = try await Self.client.send(request) } catch {
            throw unreachable(error)
        }
    }

    private func unreachable(_ fault: OutboundFault) -> Failure {
        let (server, command) =
            base.hasSuffix(Self.ledgerPath) ? ("ledger", "ledger serve") : ("store", "serve")
        return Failure(
            .unavailable, "\(server)Unreachable",
            "The \(server) at \(base) does not answer: \(fault.reason).",
            remedy: "start it with `shopkeeper \(command)`; a process that was stopped must "
                + "continue or be ended first")
    }

    /// Returns the store's error with its exit code.
    private static func failure(_ status: Int, _ body: Data) -> Failure {
        let said = try? JSONDecoder().decode(WireError.self, from: body)
        let error =
            said ?? WireError(code: "http\(status)", message: "The store answered \(status).")
        switch status {
        // The key was right. A production realm refuses this call to everyone.
        case 403 where error.code == "sandboxOnly": return Failure(.no, error)
        case 401, 403: return Failure(.key, error)
        case 400..<500: return Failure(.no, error)
        default: return Failure(.unavailable, error)
        }
    }
}
