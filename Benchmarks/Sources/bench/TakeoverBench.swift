// SPDX-License-Identifier: Apache-2.0

import Foundation
import Live
import Shop
import StoreWire

/// Two processes on one PostgreSQL: how long work that one of them holds lies
/// still when that one ends, until the other has done it. A killed process's
/// lease must end first; one that is stopped lets go.
struct TakeoverBench {
    private static let secondsMax = 120.0
    private let rounds = Brief.or(5, brief: 1)

    func run() async throws -> [String] {
        let postgres = try BenchPostgres()
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("bench-takeover-\(getpid())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let merchant = try MerchantServers()
        // This one owes notifications and delivers none: it does not work.
        let store = try await BenchStore.open(
            in: folder, places: BenchPostgres.places(postgres.conninfo))
        let realm = try await BenchStore.realm(of: store)
        try await realm.catalogue.setNotificationURL(
            "http://127.0.0.1:\(merchant.livelyPort)/", bundleID: "com.example.app",
            RequestContext(requestID: "bench"))
        var notes: [String] = []
        for (name, signal) in [("kill -9", SIGKILL), ("SIGTERM", SIGTERM)] {
            var times = Latencies()
            for number in 1...rounds {
                progress("take-over after \(name), \(number) of \(rounds)")
                times.add([try await takeOver(signal, realm, merchant, folder, postgres)])
            }
            notes.append(
                String(
                    format: "%@ of the process that held it to work done by the other: "
                        + "median %.2f s, longest %.2f s (n %d)", name, times.percentile(0.5),
                    times.percentile(1), rounds))
        }
        await store.close()
        return notes
    }

    private func takeOver(
        _ signal: Int32, _ realm: Realm, _ merchant: MerchantServers, _ folder: URL,
        _ postgres: BenchPostgres
    ) async throws -> Double {
        merchant.isSilent = true
        let (asked, answered) = (merchant.asked, merchant.count)
        let holder = try ServedProcess(folder: folder, conninfo: postgres.conninfo)
        _ = try await realm.merchant.sendNotification(
            SendNotificationRequest(bundleId: "com.example.app", notificationType: "TEST"),
            RequestContext(requestID: "bench"))
        try await until("the notification is sent") { merchant.asked > asked }
        let other = try ServedProcess(folder: folder, conninfo: postgres.conninfo)
        defer { other.kill() }
        merchant.isSilent = false
        let start = ContinuousClock.now
        holder.end(signal)
        try await until("the other sends it") { merchant.count > answered }
        return (ContinuousClock.now - start).inSeconds
    }

    private func until(_ what: String, _ isSo: () -> Bool) async throws {
        let start = ContinuousClock.now
        while !isSo() {
            guard (ContinuousClock.now - start).inSeconds < Self.secondsMax else {
                throw ClientFailure("waited \(Self.secondsMax) s and more until \(what)")
            }
            try await Live.sleep(.milliseconds(1))
        }
    }
}
