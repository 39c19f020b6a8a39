// SPDX-License-Identifier: Apache-2.0

import StoreKit

/// The app's own server, which knows what is sold, and delivers what was bought.
struct FilterServer {
    /// It answered with another status than 200.
    struct Refusal: LocalizedError {
        let status: Int
        var errorDescription: String? { "the filters' server answers \(status)" }
    }

    let url: URL

    /// The server of `PHOTO_FILTERS_URL`. Nil for an app that contains its filters.
    static let configured = ProcessInfo.processInfo.environment["PHOTO_FILTERS_URL"]
        .flatMap(URL.init(string:)).map(FilterServer.init)

    /// What is sold: names and product ids.
    func list(_ done: @escaping (Result<[Filter], any Error>) -> Void) {
        fetch(URLRequest(url: url.appendingPathComponent("filters")), done)
    }

    /// Sends the receipt, and fetches each filter that it proves from the address that the
    /// server gives for it.
    func deliver(_ receipt: Data, _ done: @escaping (Result<[Filter], any Error>) -> Void) {
        var request = URLRequest(url: url.appendingPathComponent("deliveries"))
        request.httpMethod = "POST"
        request.httpBody = try? JSONEncoder().encode(["receipt": receipt.base64EncodedString()])
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        fetch(request) { (result: Result<[String], any Error>) in
            switch result {
            case .failure(let error): done(.failure(error))
            case .success(let paths): self.fetch(paths[...], [], done)
            }
        }
    }

    private func fetch(
        _ paths: ArraySlice<String>, _ files: [Filter],
        _ done: @escaping (Result<[Filter], any Error>) -> Void
    ) {
        guard let path = paths.first, let file = URL(string: path, relativeTo: url) else {
            return done(.success(files))
        }
        fetch(URLRequest(url: file)) { (result: Result<Filter, any Error>) in
            switch result {
            case .failure(let error): done(.failure(error))
            case .success(let filter):
                self.fetch(paths.dropFirst(), files + [filter], done)
            }
        }
    }

    private func fetch<Answer: Decodable>(
        _ request: URLRequest, _ done: @escaping (Result<Answer, any Error>) -> Void
    ) {
        let task = URLSession.shared.dataTask(with: request) { data, response, error in
            let result = Result { () -> Answer in
                if let error { throw error }
                let status = (response as? HTTPURLResponse)?.statusCode ?? 0
                guard status == 200, let data else { throw Refusal(status: status) }
                return try JSONDecoder().decode(Answer.self, from: data)
            }
            DispatchQueue.main.async { done(result) }
        }
        task.resume()
    }
}
