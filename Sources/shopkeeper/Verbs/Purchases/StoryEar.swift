// SPDX-License-Identifier: Apache-2.0

import Foundation
import Live
import Logging
import StoreWire
import Synchronization

/// Receives the app's notifications while a story is played, in the place of the
/// app's own server.
final class StoryEar: Sendable {
    private let store: RunningStore
    private let before: String?
    private let heard = Mutex<[String]>([])
    private let listening = Mutex<Task<Void, any Error>?>(nil)

    private init(_ store: RunningStore, before: String?) {
        (self.store, self.before) = (store, before)
    }

    /// Listens on loopback, and points the app there until it is closed.
    static func open(_ store: RunningStore, _ options: StoreOptions) async throws -> StoryEar {
        let apps = try await store.operatorDoor.get("/apps", as: AppList.self).apps
        let app = apps.first { $0.bundleId == store.run.bundleId }
        let ear = StoryEar(store, before: app?.notificationUrl)
        let verifying = try Verifying(files: [], store: options)
        var listener = Listener(
            port: 0, forwardTo: nil,
            verifying: {
                await verifying.look()
                return verifying
            }, heard: { ear.hear($0) })
        // It is ended by cancelling it, which its server reports.
        listener.logLevel = .critical
        let server = listener
        let (ports, ready) = AsyncStream.makeStream(of: Int.self)
        let task = Task {
            defer { ready.finish() }
            try await server.run { ready.yield($0) }
        }
        ear.listening.withLock { $0 = task }
        for await port in ports {
            try await ear.point(to: "http://127.0.0.1:\(port)/")
            return ear
        }
        try await task.value
        throw Failure(.taken, "notListening", "No port on loopback can be listened at.")
    }

    func close() async throws {
        listening.withLock { $0 }?.cancel()
        try await point(to: before)
    }

    /// Returns what came since the last call, after waiting for so many.
    func next(atLeast count: Int, timeout: TimeLimit) async -> [String] {
        let end = Live.monotonic() + timeout.duration
        while heard.withLock({ $0.count }) < count, Live.monotonic() < end {
            do { try await Live.sleep(.milliseconds(10)) } catch { break }
        }
        return heard.withLock { heard in
            defer { heard = [] }
            return heard
        }
    }

    private func hear(_ notification: HeardNotification) {
        let payload = notification.notification
        let type = payload?.notificationType ?? "NOT VERIFIED"
        let words = payload?.subtype.map { "\(type)/\($0)" } ?? type
        heard.withLock { $0.append(words) }
    }

    private func point(to url: String?) async throws {
        _ = try await store.operatorDoor.put(
            "/apps/\(DoorClient.part(store.run.bundleId))/notification-url",
            SetNotificationURLRequest(notificationUrl: url), as: AppSummary.self)
    }
}
