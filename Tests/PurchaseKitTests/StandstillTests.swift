// SPDX-License-Identifier: Apache-2.0

import Foundation
import PurchaseKit
import StoreWire
import Synchronization
import TestSupport
import Testing

/// What an app need not wait for: the network, the disk, another process.
@Suite(.unforgiven, .timeLimit(.minutes(5)))
struct StandstillTests {
    let rig: Rig

    init() throws {
        rig = try Rig()
    }

    // MARK: The app's calls

    @Test func `adding and finishing return while the disk stands still`() async {
        let files = StandingFiles(rig.files)
        let app = rig.launch(files: files)
        app.add("credits.5")
        await app.observer.diary.wait(for: "purchased")
        files.stand()

        // Both have returned before anything can be written.
        app.add("credits.10")
        app.queue.finishTransaction(app.observer.transactions[0])
        await until("a write that stands") { files.isStanding }
        #expect(!app.observer.diary.lines.contains("purchasing credits.10"))
        #expect(!app.observer.diary.lines.contains { $0.hasPrefix("removed") })

        files.goOn()
        await app.observer.diary.wait(for: "purchased credits.10")
        await until("the finish") { rig.store.count(\.isFinish) > 0 }
    }

    @Test func `adding returns while the network stands still`() async {
        let store = HoldingStore(rig.store)
        store.hold { $0 == .signIn }
        let app = rig.launch(observer: nil, transport: store)
        app.queue.add(app.observer)
        await store.diary.wait(for: "held")

        for _ in 0..<100 { app.add("credits.5") }

        await app.observer.diary.wait(for: "purchasing", count: 100)
        #expect(rig.store.count(\.isPurchase) == 0)
        store.release()
        await app.observer.diary.wait(for: "purchased")
    }

    // MARK: An idle queue

    @Test func `an idle queue costs one long poll`() async {
        let store = HoldingStore(rig.store)
        store.hold { route in
            if case .transactions(_, _, let seconds) = route { seconds == 50 } else { false }
        }
        let app = rig.launch(waitSeconds: 50, transport: store)
        await store.diary.wait(for: "held GET")

        let before = rig.store.state.withLock { $0.calls }
        await giveWay(times: 2000)

        #expect(before == rig.store.state.withLock { $0.calls })
        #expect(before.count { $0 == .signIn } == 1)
        #expect(before.count(where: \.isTransactions) == 2, "one at once, and one that waits")
        #expect(before.count <= 3)
        await app.device.close()
    }

    // MARK: The lock between processes

    private func isLocked(_ folder: URL) -> Bool {
        let descriptor = open(folder.path + "/queue.lock", O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return flock(descriptor, LOCK_EX | LOCK_NB) != 0
    }

    /// So it is held for the milliseconds of a write only, whatever the customer and the
    /// store take.
    @Test func `no lock is held while a sheet is open and while the store does not answer`()
        async throws
    {
        let place = try TemporaryFolder()
        let folder = URL(fileURLWithPath: place.file("device"))
        let store = HoldingStore(rig.store)
        store.hold(when: \.isPurchase)
        let waiting = rig.launch(
            sheet: SilentSheet(), files: FolderDeviceFiles(folder: folder))
        waiting.add("credits.10")
        await waiting.observer.diary.wait(for: "purchasing")
        let sending = rig.launch(transport: store, files: FolderDeviceFiles(folder: folder))
        sending.add("credits.5")
        await store.diary.wait(for: "held PUT")

        for _ in 0..<20 {
            #expect(!isLocked(folder))
            await giveWay(times: 5)
        }
        store.release()
        await sending.observer.diary.wait(for: "purchased")
        await waiting.device.close()
        await sending.device.close()
        withExtendedLifetime(place) {}
    }

    @Test func `a holder that is killed leaves the lock, and the next one goes on`() async throws {
        let place = try TemporaryFolder()
        let folder = URL(fileURLWithPath: place.file("device"))
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        let holder = try ChildProcess([
            "flock", "--no-fork", folder.path + "/queue.lock", "sh", "-c",
            "echo held; exec sleep 600",
        ])
        _ = await holder.line(with: "held")
        #expect(isLocked(folder))
        let app = rig.launch(files: FolderDeviceFiles(folder: folder))
        app.add("credits.5")

        holder.kill(SIGKILL)
        _ = await holder.outcome()

        await app.observer.diary.wait(for: "purchased")
        await app.device.close()
        withExtendedLifetime(place) {}
    }
}

/// Files whose writes stand still when a test says so.
private final class StandingFiles: DeviceFiles {
    private let files: MemoryFiles
    private let state = Mutex<(isClosed: Bool, isStanding: Bool)>((false, false))
    private let gate = DispatchSemaphore(value: 0)

    init(_ files: MemoryFiles) { self.files = files }

    func stand() { state.withLock { $0.isClosed = true } }

    func goOn() {
        let isStanding = state.withLock { state in
            defer { state = (false, false) }
            return state.isStanding
        }
        if isStanding { gate.signal() }
    }

    var isStanding: Bool { state.withLock { $0.isStanding } }

    func read(_ name: String) throws -> [UInt8]? { try files.read(name) }

    func replace(_ files: [DeviceFile]) throws {
        let stands = state.withLock { state in
            state.isStanding = state.isClosed
            return state.isClosed
        }
        if stands { gate.wait() }
        try self.files.replace(files)
    }

    func withLock<Result>(_ body: () throws -> Result) throws -> Result {
        try files.withLock(body)
    }

    func claim(launch: String) throws { try files.claim(launch: launch) }

    func release(launch: String) { files.release(launch: launch) }

    func isClaimed(launch: String) -> Bool { files.isClaimed(launch: launch) }

    func url(of name: String) -> URL? { files.url(of: name) }
}
