// SPDX-License-Identifier: Apache-2.0

import StoreKit

/// A year of comments that is paid and not used.
struct UnusedPurchase: Codable {
    let id: String
    let transactionId: String
}

/// What the server knows of a writer's purchases.
struct Verified: Decodable {
    let unusedPurchase: [UnusedPurchase]
    /// The transactions of the receipt that the server has recorded.
    let booked: [String]
}

/// A journal, as its server describes it.
struct Journal: Codable {
    let id: String
    /// Milliseconds since 1970.
    let commentsUntil: Int64

    /// `closed`, or `open until 2027-01-31`.
    var words: String {
        let end = Date(timeIntervalSince1970: Double(commentsUntil) / 1000)
        guard end > Date() else { return "closed" }
        return "open until \(end.formatted(.iso8601.year().month().day()))"
    }
}

/// The app's own server.
struct JournalServer {
    /// It answered with another status than 200.
    struct Refusal: LocalizedError {
        let message: String
        var errorDescription: String? { message }
    }

    let url: URL
    let token: String

    /// The server of `JOURNAL_URL`, and the writer's token of `JOURNAL_TOKEN`.
    static let configured = JournalServer(
        url: ProcessInfo.processInfo.environment["JOURNAL_URL"].flatMap(URL.init(string:))
            ?? URL(fileURLWithPath: "/"),
        token: ProcessInfo.processInfo.environment["JOURNAL_TOKEN"] ?? "a-token-for-ann")

    /// Sends the receipt, and gets what is paid and not used.
    func verify(_ receipt: Data, _ done: @escaping (Result<Verified, any Error>) -> Void) {
        send("POST", "purchases/verify", ["receipt": receipt.base64EncodedString()], done)
    }

    /// Uses a paid year for a journal.
    func enableComments(
        on journal: String, with purchase: UnusedPurchase,
        _ done: @escaping (Result<Journal, any Error>) -> Void
    ) {
        send("POST", "journals/\(journal)/enableComments", ["purchase": purchase.id], done)
    }

    func journal(_ id: String, _ done: @escaping (Result<Journal, any Error>) -> Void) {
        send("GET", "journals/\(id)", nil, done)
    }

    private func send<Answer: Decodable>(
        _ method: String, _ path: String, _ body: [String: String]?,
        _ done: @escaping (Result<Answer, any Error>) -> Void
    ) {
        var request = URLRequest(url: url.appendingPathComponent(path))
        request.httpMethod = method
        request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
        if let body {
            request.httpBody = try? JSONEncoder().encode(body)
            request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        }
        let task = URLSession.shared.dataTask(with: request) { data, response, error in
            let result = Result { () -> Answer in
                if let error { throw error }
                guard (response as? HTTPURLResponse)?.statusCode == 200, let data else {
                    throw Refusal(message: Self.message(in: data))
                }
                return try JSONDecoder().decode(Answer.self, from: data)
            }
            DispatchQueue.main.async { done(result) }
        }
        task.resume()
    }

    private static func message(in data: Data?) -> String {
        struct Answer: Decodable {
            struct Reason: Decodable { let message: String }
            let error: Reason
        }
        let answer = data.flatMap { try? JSONDecoder().decode(Answer.self, from: $0) }
        return answer?.error.message ?? "the server does not answer as expected"
    }
}
