// SPDX-License-Identifier: Apache-2.0

import StoreKit

/// The game's own server, on which players meet at the beaches. While it is away, the
/// game sells nothing.
final class GameServer {
    private static let secondsBetweenQuestions = 1.0
    private static let secondsToAnswer = 5.0

    /// The address that answers 200 while the server is there. Nil for a game that is
    /// played alone, and sells at any time.
    private let url: URL?
    /// Nil before the first answer.
    private(set) var isKnownUp: Bool?
    /// The server has gone or is back.
    var onChange: (() -> Void)?

    init(url: URL?) {
        self.url = url
        isKnownUp = url == nil ? true : nil
    }

    /// The server of `HIDDEN_BEACHES_URL`.
    static func configured() -> GameServer {
        let text = ProcessInfo.processInfo.environment["HIDDEN_BEACHES_URL"]
        return GameServer(url: text.flatMap(URL.init(string:)))
    }

    /// As it answered last.
    var isUp: Bool { isKnownUp == true }

    /// Asks again and again, because the payment queue does not wait for an answer when
    /// it asks about a payment.
    func watch() {
        guard url != nil else { return }
        ask { _ in
            DispatchQueue.main.asyncAfter(deadline: .now() + Self.secondsBetweenQuestions) {
                self.watch()
            }
        }
    }

    func ask(_ done: @escaping (Bool) -> Void) {
        guard let url else { return done(true) }
        let request = URLRequest(
            url: url, cachePolicy: .reloadIgnoringLocalCacheData,
            timeoutInterval: Self.secondsToAnswer)
        let task = URLSession.shared.dataTask(with: request) { _, response, _ in
            let isUp = (response as? HTTPURLResponse)?.statusCode == 200
            DispatchQueue.main.async {
                self.note(isUp)
                done(isUp)
            }
        }
        task.resume()
    }

    private func note(_ isUp: Bool) {
        guard isUp != isKnownUp else { return }
        isKnownUp = isUp
        onChange?()
    }
}
