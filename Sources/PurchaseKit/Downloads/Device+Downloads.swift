// SPDX-License-Identifier: Apache-2.0

import Commerce
import ContentPackage
import Foundation
import StoreWire
import Synchronization

/// A download that this launch knows.
struct RunningDownload {
    let entry: QueueEntry
    var machine: DownloadMachine
    var file: PartFile?
    /// Where the present transfer goes.
    var sink: DownloadSink?
    /// What it does at present.
    var task: Task<Void, Never>?
    /// Counts the tasks. What an earlier one reports is ignored.
    var turn = 0
}

/// Performs what a ``DownloadMachine`` asks for.
extension Device {
    /// How many downloads are active at once. More would share the same network.
    static let downloadsMax = 3
    /// How often progress is reported.
    static let reportEvery = Duration.milliseconds(500)

    private var downloadFolder: DownloadFolder? {
        ports.files.url(of: "downloads").map { DownloadFolder(path: $0.path) }
    }

    // MARK: The app

    nonisolated func command(_ event: DownloadMachine.Event, _ keys: [String]) {
        post { device in
            for key in keys { device.command(event, key) }
        }
    }

    private func command(_ event: DownloadMachine.Event, _ key: String) {
        guard !isClosed else { return }
        guard know(key) else {
            guard case .started = event else { return }
            let failure = PaymentFailure(
                .contentsInvalid,
                "The transaction is finished or not in this queue, so its content cannot be "
                    + "downloaded. Start a download before finishTransaction.")
            return report(.downloadLost(key, failure))
        }
        // Of a customer who is not signed in, it goes on when that customer returns.
        if case .started = event, let session, session.owner != downloads[key]?.entry.owner {
            return
        }
        happen(event, key)
    }

    /// Takes up the downloads of delivered entries, and goes on with those that were
    /// under way when an earlier launch ended.
    func takeUpDownloads(_ entries: [QueueEntry]) {
        guard !isClosed, entries.contains(where: { $0.content != nil }) else { return }
        for entry in entries where entry.content != nil && know(entry.key) {
            guard let machine = downloads[entry.key]?.machine else { continue }
            if machine.record.isWanted, machine.state == .waiting { happen(.started, entry.key) }
        }
    }

    /// The transaction has left the queue. Its files are removed.
    func dropDownload(_ key: String) {
        guard let download = downloads.removeValue(forKey: key) else { return }
        download.task?.cancel()
        downloadQueue.removeAll { $0 == key }
        downloadFolder?.remove(key)
        var facts = facts(download)
        facts?.content = nil
        if download.machine.state != .finished { facts?.state = .cancelled }
        if let facts { report(.downloads([facts])) }
        admitNext()
    }

    /// Removes the files of entries that are not in the queue any more.
    func cleanDownloads() {
        guard let folder = downloadFolder else { return }
        // First the names: another process may add an entry and then its files.
        let names = folder.names
        guard !names.isEmpty, let record = try? file.read() else { return }
        folder.clean(names, keeping: Set(record.entries.filter(\.isOwedToApp).map(\.key)))
    }

    /// Ends the work. The files stay for the next launch.
    func closeDownloads() {
        for key in downloads.keys {
            downloads[key]?.task?.cancel()
            downloads[key]?.turn += 1
            downloads[key]?.file = nil
            downloads[key]?.sink = nil
        }
        downloadTicker?.cancel()
    }

    /// The facts of an entry's download. Nil if it has none.
    func downloadFacts(_ entry: QueueEntry) -> DownloadFacts? {
        guard entry.content != nil else { return nil }
        return know(entry.key) ? downloads[entry.key].flatMap(facts) : DownloadFacts(entry)
    }

    /// Whether there is a download under a key.
    private func know(_ key: String) -> Bool {
        if downloads[key] != nil { return true }
        guard let entry = entry(key), DownloadFacts(entry) != nil, let folder = downloadFolder
        else { return false }
        let machine = DownloadMachine(folder.record(key), isUnpacked: folder.isUnpacked(key))
        downloads[key] = RunningDownload(entry: entry, machine: machine)
        return true
    }

    private func facts(_ download: RunningDownload) -> DownloadFacts? {
        guard var facts = DownloadFacts(download.entry) else { return nil }
        let machine = download.machine
        facts.version = machine.record.version ?? facts.version
        facts.length = machine.record.length ?? facts.length
        facts.state = machine.state
        facts.progress = machine.progress
        facts.timeRemaining = machine.timeRemaining
        facts.failure = machine.failure
        if machine.state == .finished, let folder = downloadFolder {
            facts.content = URL(
                fileURLWithPath: configuration.contentForm == .folder
                    ? folder.unpacked(facts.key) : folder.package(facts.key))
        }
        return facts
    }

    // MARK: The machine

    private func happen(_ event: DownloadMachine.Event, _ key: String, turn: Int? = nil) {
        guard !isClosed, var machine = downloads[key]?.machine,
            turn == nil || turn == downloads[key]?.turn
        else { return }
        let before = machine.state
        if let synced = downloads[key]?.file?.synced, synced > 0 { machine.noteSynced(synced) }
        let actions = machine.apply(event, at: ports.wall.now)
        downloads[key]?.machine = machine
        let isChanged = machine.state != before
        for action in actions { perform(action, key) }
        if isChanged, let facts = downloads[key].flatMap(facts) { report(.downloads([facts])) }
    }

    private func perform(_ action: DownloadMachine.Action, _ key: String) {
        switch action {
        case .queue:
            downloadQueue.append(key)
            admitNext()
        case .save: save(key)
        case .truncate(let count): truncate(key, to: count)
        case .link(let version): run(key) { await $0.link(key, version, $1) }
        case .fetch(let link, let from): run(key) { await $0.fetch(key, link, from, $1) }
        case .check(let sha256): run(key) { await $0.check(key, sha256, $1) }
        case .unpack: run(key) { await $0.unpack(key, $1) }
        case .nap(let failures):
            run(key) { device, turn in
                await device.nap(failures, since: device.wakeCount)
                await device.link(key, device.downloads[key]?.machine.record.version, turn)
            }
        case .stop: stop(key)
        case .discard: downloadFolder?.remove(key)
        }
    }

    /// Begins the next step, in place of the one that has just reported.
    private func run(
        _ key: String, _ step: @escaping @Sendable (isolated Device, Int) async -> Void
    ) {
        guard downloads[key] != nil else { return }
        downloads[key]?.turn += 1
        let turn = downloads[key]?.turn ?? 0
        downloads[key]?.task = Task { await step(self, turn) }
    }

    private func stop(_ key: String) {
        downloads[key]?.turn += 1
        downloads[key]?.task?.cancel()
        downloads[key]?.task = nil
        downloads[key]?.file = nil
        downloads[key]?.sink = nil
        downloadQueue.removeAll { $0 == key }
        activeDownloads.remove(key)
        admitNext()
    }

    /// Gives free places to those that have waited longest.
    private func admitNext() {
        while activeDownloads.count < Self.downloadsMax, !downloadQueue.isEmpty {
            let key = downloadQueue.removeFirst()
            activeDownloads.insert(key)
            run(key) { await $0.admit(key, $1) }
            tick()
        }
    }

    /// Opens the file. While another process has it, waits.
    private func admit(_ key: String, _ turn: Int) async {
        var failures = 0
        while !Task.isCancelled, turn == downloads[key]?.turn {
            let wakes = wakeCount
            do throws(DeviceFilesFault) {
                if let file = try downloadFolder?.open(key, writing: options.contentWriting) {
                    downloads[key]?.file = file
                    return happen(.admitted(bytes: file.total), key, turn: turn)
                }
            } catch {
                return happen(.failed(Self.failure(error)), key, turn: turn)
            }
            await nap(failures, since: wakes)
            failures += 1
        }
    }

    private func save(_ key: String) {
        guard let record = downloads[key]?.machine.record, let folder = downloadFolder else {
            return
        }
        do throws(DeviceFilesFault) { try folder.write(record, key) } catch {
            // The bytes are found again, and the digest is compared in any case.
            sayOnce("The progress of a download cannot be recorded: \(error)")
        }
    }

    private func truncate(_ key: String, to count: Int64) {
        do throws(DeviceFilesFault) { try downloads[key]?.file?.truncate(to: count) } catch {
            happen(.failed(Self.failure(error)), key)
        }
    }

    // MARK: Steps

    private func link(_ key: String, _ version: String?, _ turn: Int) async {
        guard !Task.isCancelled, let entry = downloads[key]?.entry, let sale = entry.sale else {
            return
        }
        do throws(DeviceFault) {
            let session = try await signIn()
            guard session.owner == entry.owner else {
                return happen(.suspended, key, turn: turn)
            }
            let reply = try await call(
                .content(transactionID: sale.transactionID), in: session,
                body: encode(ContentRequest(version: version)))
            guard reply.status == 200 else { throw refusal(reply) }
            let link: ContentLink = try decode(reply)
            guard link.productId == entry.payment.productID, link.length > 0,
                link.url.hasPrefix("/")
            else { throw .unknown(nil) }
            happen(.linked(link), key, turn: turn)
        } catch {
            happen(Self.event(after: error, total(key)), key, turn: turn)
        }
    }

    /// Only the store's own refusals end a download.
    private static func event(
        after fault: DeviceFault, _ total: Int64
    ) -> DownloadMachine.Event {
        let final = ["transactionNotFound", "contentNotFound", "contentNotOwned"]
        switch fault {
        case .refused(_, let error) where final.contains(error.code):
            return .failed(PaymentFailure(refusal: error))
        case .setUp: return .failed(fault.paymentFailure)
        default: return .fetched(total: total, .unavailable)
        }
    }

    private func total(_ key: String) -> Int64 { downloads[key]?.file?.total ?? 0 }

    private func fetch(_ key: String, _ link: ContentLink, _ from: Int64, _ turn: Int) async {
        guard let file = downloads[key]?.file else { return }
        let sink = DownloadSink(file, length: link.length, from: from)
        downloads[key]?.sink = sink
        let fetch = ContentFetch(
            url: link.url, sha256: link.sha256, from: from, requestID: ports.randomness.uuid())
        var end = DownloadMachine.FetchEnd.ended
        do throws(TransportFailure) {
            let status = try await ports.transport.fetch(fetch, into: sink)
            end = Self.end(status)
        } catch {
            // What has arrived counts. The next attempt goes on behind it.
        }
        if let fault = file.fault {
            return happen(.failed(Self.failure(fault)), key, turn: turn)
        }
        guard turn == downloads[key]?.turn else { return }
        // A whole file is read and compared next, and is synced with what is unpacked.
        if file.total < link.length { downloads[key]?.machine.noteSynced(file.sync()) }
        noteBeginning(key)
        happen(.fetched(total: file.total, end), key, turn: turn)
    }

    /// Notes once where the bytes of a transfer begin.
    private func noteBeginning(_ key: String) {
        guard let place = downloads[key]?.sink?.takePlace() else { return }
        happen(.began(at: place), key)
    }

    private static func end(_ status: Int) -> DownloadMachine.FetchEnd {
        switch status {
        case 200, 206: .ended
        case 401, 403, 404, 410: .linkRefused
        case 416: .outOfRange
        default: .unavailable
        }
    }

    private func check(_ key: String, _ sha256: String, _ turn: Int) async {
        guard let file = downloads[key]?.file else { return }
        let found: Result<String, DeviceFilesFault> = await offQueue {
            do throws(DeviceFilesFault) { return .success(try file.sha256()) } catch {
                return .failure(error)
            }
        }
        switch found {
        case .success(let digest):
            happen(.checked(isGenuine: digest == sha256), key, turn: turn)
        case .failure(let fault): happen(.failed(Self.failure(fault)), key, turn: turn)
        }
    }

    private func unpack(_ key: String, _ turn: Int) async {
        guard let folder = downloadFolder, let entry = downloads[key]?.entry else { return }
        let version = downloads[key]?.machine.record.version
        let isStopped = Flag()
        let outcome: Result<ContentSummary, ContentFault> = await withTaskCancellationHandler {
            await offQueue {
                do throws(ContentFault) {
                    return .success(try folder.unpack(key) { _ in !isStopped.isSet })
                } catch { return .failure(error) }
            }
        } onCancel: {
            isStopped.set()
        }
        switch outcome {
        case .success(let found)
        where found.info.productId == entry.payment.productID && found.info.version == version:
            happen(.unpacked, key, turn: turn)
        case .success:
            let failure = PaymentFailure(
                .storeFault, "The content is that of another product, and was not delivered.")
            happen(.failed(failure), key, turn: turn)
        case .failure(let fault) where fault.code == .cancelled: break
        case .failure(let fault):
            let isDisk = fault.code == .diskFull || fault.code == .file
            let failure = PaymentFailure(
                isDisk ? .disk : .storeFault, "The content cannot be unpacked: \(fault)")
            happen(.failed(failure), key, turn: turn)
        }
    }

    private func offQueue<Value: Sendable>(
        _ body: @escaping @Sendable () -> Value
    ) async -> Value {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(returning: body()) }
        }
    }

    private static func failure(_ fault: DeviceFilesFault) -> PaymentFailure {
        var failure = PaymentFailure(
            .disk,
            fault.errorNumber == ENOSPC || fault.errorNumber == EDQUOT
                ? "The disk is full. Free some space, and start the download again; it goes on "
                    + "where it was."
                : "The content could not be written down: \(fault).")
        failure.systemErrorCode = Int(fault.errorNumber)
        return failure
    }

    // MARK: Progress

    /// Reports progress at regular intervals while a download is active.
    private func tick() {
        guard downloadTicker == nil else { return }
        let sleep = ports.sleep
        downloadTicker = Task {
            while !self.isClosed, !self.activeDownloads.isEmpty {
                guard (try? await sleep(Self.reportEvery)) != nil else { break }
                self.reportProgress()
            }
            self.downloadTicker = nil
        }
    }

    private func reportProgress() {
        var changed: [DownloadFacts] = []
        for key in activeDownloads.sorted() {
            guard let file = downloads[key]?.file,
                downloads[key]?.machine.state == .active
            else { continue }
            noteBeginning(key)
            happen(.received(total: file.total), key)
            if let facts = downloads[key].flatMap(facts) { changed.append(facts) }
        }
        if !changed.isEmpty { report(.downloads(changed)) }
    }
}

/// A flag that one thread sets and another reads.
private final class Flag: Sendable {
    private let value = Mutex(false)
    var isSet: Bool { value.withLock { $0 } }
    func set() { value.withLock { $0 = true } }
}
