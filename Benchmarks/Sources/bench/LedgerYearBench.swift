// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import StoreWire

/// A year's notifications of many subscribers, period by period, as a store sends them:
/// each is signed beforehand and not counted, and received through HTTP.
struct LedgerYearBench {
    let subscribers: Int
    private static let periods = 12
    private static let connections = 16
    /// So many are held in memory by this process.
    private static let chunk = 4096

    func run() async throws -> Bench.Outcome {
        let sales = try SignedSale()
        let served = try await ServedLedger(sales.setup)
        defer { served.end() }
        let count = subscribers * Self.periods
        let (asker, before) = (served.asker, try disk(served.folder))
        var (seconds, sent, most, slowest) = (0.0, 0, 0, Double.infinity)
        while sent < count {
            let numbers = sent..<min(sent + Self.chunk, count)
            let requests = try await made(numbers) { number in
                let (subscriber, period) = (number % subscribers, number / subscribers)
                return try asker.post(
                    "/ledger/v1/notifications",
                    try sales.renewal(of: subscriber, period, account: account(subscriber)))
            }
            let rest = requests.count % Self.connections
            var spent = try asker.seconds(
                Array(requests.dropLast(rest)), connections: Self.connections)
            if rest > 0 {
                spent += try asker.seconds(
                    Array(requests.suffix(rest)), connections: rest)
            }
            seconds += spent
            sent += requests.count
            slowest = min(slowest, Double(requests.count) / spent)
            most = max(most, try served.process.memory.peak)
            progress("a year of \(subscribers) subscribers: \(sent) of \(count) notifications")
        }
        try check(served)
        return (
            [],
            [
                String(
                    format: "a year's %d notifications of %d subscribers: %.0f s, %.0f a second "
                        + "(the slowest %d: %.0f), memory at most %.0f MiB, %d bytes of disk each",
                    count, subscribers, seconds, Double(count) / seconds, Self.chunk, slowest,
                    Double(most) / 1_048_576, (try disk(served.folder) - before) / count)
            ]
        )
    }

    private func account(_ subscriber: Int) -> String {
        String(format: "00000000-0000-4000-8000-%012d", subscriber)
    }

    /// Whether every period of the first and the last subscriber arrived.
    private func check(_ served: ServedLedger) throws {
        for subscriber in [0, subscribers - 1] {
            let answer = try served.asker.ask(
                served.asker.get(
                    "/ledger/v1/accounts/\(account(subscriber))/entitlements/premium"))
            let reason = try JSONDecoder().decode(Reason.self, from: Data(answer))
            guard reason.purchases.count == Self.periods else {
                throw ClientFailure("\(reason.purchases.count) of \(Self.periods) periods")
            }
        }
    }

    private struct Reason: Decodable {
        struct Purchase: Decodable {}
        let purchases: [Purchase]
    }

    private func disk(_ folder: URL) throws -> Int {
        try FileManager.default.contentsOfDirectory(
            at: folder, includingPropertiesForKeys: [.fileSizeKey]
        ).reduce(0) { $0 + (try $1.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0) }
    }
}
