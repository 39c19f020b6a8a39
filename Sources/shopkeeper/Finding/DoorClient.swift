// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreWire

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Asks a running store, over HTTP.
struct DoorClient: Sendable {
    let base: String
    let key: String?

    private static let secondsMax = 30.0

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

    func put(_ path: String, bytes: Data) async throws {
        _ = try await send("PUT", path, bytes)
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
        guard let url = URL(string: base + path) else {
            throw Failure(.usage, "urlInvalid", "\(base + path) is no URL.")
        }
        var request = URLRequest(url: url, timeoutInterval: Self.secondsMax)
        request.httpMethod = method
        request.httpBody = body
        if body != nil { request.setValue("application/json", forHTTPHeaderField: "Content-Type") }
        if let key { request.setValue("Bearer \(key)", forHTTPHeaderField: "Authorization") }
        do {
            let (data, response) = try await URLSession.shared.data(for: request)
            let status = (response as? HTTPURLResponse)?.statusCode ?? 0
            guard (200..<300).contains(status) else { throw Self.failure(status, data) }
            return data
        } catch let error as URLError {
            throw Failure(
                .unavailable, "storeUnreachable",
                "The store at \(base) does not answer: \(error.localizedDescription).",
                remedy: "start it with `shopkeeper serve`")
        }
    }

    /// What the store said, with the code it means here.
    private static func failure(_ status: Int, _ body: Data) -> Failure {
        let said = try? JSONDecoder().decode(WireError.self, from: body)
        let error =
            said ?? WireError(code: "http\(status)", message: "The store answered \(status).")
        switch status {
        // The key was right; a production realm says no to anybody.
        case 403 where error.code == "sandboxOnly": return Failure(.no, error)
        case 401, 403: return Failure(.key, error)
        case 400..<500: return Failure(.no, error)
        default: return Failure(.unavailable, error)
        }
    }
}
