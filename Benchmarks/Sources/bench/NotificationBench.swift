// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import Live
import Outbound
import Shop
import StoreWire

/// Notifications a second to ten apps' servers, and the same to nine of them
/// while the tenth is dead.
struct NotificationBench {
    private static let apps = 10
    private static let each = Brief.or(300, brief: 10)

    func run() async throws -> [String] {
        progress("notifications")
        var alive: [Double] = []
        var beside: [Double] = []
        for _ in 0..<3 {
            alive.append(try await rate(dead: 0))
            beside.append(try await rate(dead: 1))
        }
        let (all, nine) = (alive.sorted()[1], beside.sorted()[1])
        return [
            String(format: "notifications a second, ten apps: %.0f", all),
            String(
                format: "notifications a second, nine apps beside a dead one: %.0f (%.2f of it)",
                nine, nine / all),
        ]
    }

    /// Signed, sent, answered, recorded.
    private func rate(dead: Int) async throws -> Double {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("bench-notifications-\(getpid())-\(dead)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let servers = try MerchantServers()
        let store = try await BenchStore.open(in: folder, courier: BenchCourier())
        let realm = try await BenchStore.realm(of: store)
        for app in 0..<Self.apps {
            let (bundleID, port) = (
                "com.example.app\(app)", app < dead ? servers.deadPort : servers.livelyPort
            )
            try await realm.catalogue.putCatalogue(
                BenchStore.catalogue, app: AppDescription(bundleID: BundleID(bundleID)))
            try await realm.catalogue.setNotificationURL(
                "http://127.0.0.1:\(port)/\(app)", bundleID: bundleID,
                RequestContext(requestID: "bench"))
            for _ in 0..<Self.each {
                _ = try await realm.merchant.sendNotification(
                    SendNotificationRequest(bundleId: bundleID, notificationType: "TEST"),
                    RequestContext(requestID: "bench"))
            }
        }
        let wanted = (Self.apps - dead) * Self.each
        let time = await secondsAwaited {
            let working = Task { await store.work() }
            while servers.count < wanted { try? await Live.sleep(.milliseconds(2)) }
            working.cancel()
            await working.value
        }
        await store.close()
        return Double(wanted) / time
    }
}

/// Takes parcels to whatever address they have, loopback too.
struct BenchCourier: Courier {
    private let client = OutboundClient(policy: .open)

    func deliver(_ parcel: Parcel) async -> Delivery {
        let answer = try? await client.send(
            OutboundRequest("POST", parcel.url, body: parcel.body))
        return answer.map { Delivery(status: $0.status) } ?? Delivery(.noResponse)
    }
}
