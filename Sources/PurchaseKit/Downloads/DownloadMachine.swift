// SPDX-License-Identifier: Apache-2.0

import Commerce
import StoreWire

/// One download, as a pure state machine: what happens goes in, and what to do
/// next comes out. It knows no file and no network.
struct DownloadMachine: Sendable {
    enum State: Hashable, Sendable {
        case waiting, active, paused, finished, failed, cancelled
    }

    enum Event: Sendable {
        /// The app starts or resumes it.
        case started
        case paused
        case cancelled
        /// It has a place among the active ones, and its file is open with so many
        /// bytes.
        case admitted(bytes: Int64)
        case linked(ContentLink)
        /// The answer's bytes begin at this place of the content. The file was
        /// shortened to it.
        case began(at: Int64)
        case received(total: Int64)
        /// The transfer ended, with so many bytes in the file.
        case fetched(total: Int64, FetchEnd)
        case checked(isGenuine: Bool)
        case unpacked
        case failed(PaymentFailure)
        /// Its customer is not signed in, so it waits.
        case suspended
    }

    /// How a transfer ended.
    enum FetchEnd: Hashable, Sendable {
        /// The answer is complete, or its connection was lost.
        case ended
        /// The link is not accepted any more.
        case linkRefused
        /// The file has more bytes than the content.
        case outOfRange
        /// The store cannot answer now, or something else answers.
        case unavailable
    }

    enum Action: Hashable, Sendable {
        /// Ask for a place among the active downloads.
        case queue
        /// Ask the store for a link, to this version if it is kept.
        case link(version: String?)
        case fetch(ContentLink, from: Int64)
        /// Shorten the file.
        case truncate(to: Int64)
        /// Compare the file's digest.
        case check(sha256: String)
        case unpack
        /// Wait, longer after each failure, and then ask for a link.
        case nap(failures: Int)
        /// End what is running, and give the place to another.
        case stop
        /// Remove all files.
        case discard
        /// Write the record.
        case save
    }

    /// How many attempts may follow each other without a new byte.
    static let attemptsMax = 8
    /// How often the whole content may arrive with a wrong digest.
    static let corruptionsMax = 3

    private(set) var state = State.waiting
    private(set) var record: DownloadRecord
    private(set) var bytes: Int64 = 0
    private(set) var failure: PaymentFailure?
    private var isQueued = false
    private var attempts = 0
    private var corruptions = 0
    /// Bytes from here on may have been lost in a power failure.
    private var suspectFrom: Int64?
    /// Where and when the present transfer began, for the time that remains.
    private var sample: (bytes: Int64, at: Timestamp)?
    private(set) var timeRemaining: Double?

    init(_ record: DownloadRecord, isUnpacked: Bool) {
        self.record = record
        if record.isWhole, isUnpacked {
            state = .finished
            bytes = record.length ?? 0
        } else if !record.isWanted, record.sha256 != nil {
            state = .paused
        }
    }

    /// From 0 to 1.
    var progress: Double {
        guard state != .finished else { return 1 }
        guard let length = record.length, length > 0 else { return 0 }
        return min(Double(bytes) / Double(length), 1)
    }

    /// Whether it needs no more work until the app asks for it.
    var isAtRest: Bool { state != .active && !isQueued }

    mutating func apply(_ event: Event, at now: Timestamp) -> [Action] {
        switch event {
        case .started: return start()
        case .paused: return pause()
        case .cancelled: return cancel()
        case .suspended: return suspend()
        case .failed(let failure): return fail(failure)
        default: break
        }
        guard state == .active || isQueued else { return [] }
        switch event {
        case .admitted(let bytes): return admit(bytes)
        case .linked(let link): return take(link)
        case .began(let place): return begin(at: place, now)
        case .received(let total): return receive(total, now)
        case .fetched(let total, let end): return self.end(total, end, now)
        case .checked(let isGenuine): return isGenuine ? unpack() : refetch()
        case .unpacked: return finish()
        default: return []
        }
    }

    // MARK: The app

    private mutating func start() -> [Action] {
        guard state != .active, state != .finished, !isQueued else { return [] }
        state = .waiting
        isQueued = true
        failure = nil
        attempts = 0
        corruptions = 0
        record.isWanted = true
        return [.save, .queue]
    }

    private mutating func pause() -> [Action] {
        guard state == .active || state == .waiting else { return [] }
        rest(as: .paused)
        record.isWanted = false
        return [.save, .stop]
    }

    private mutating func cancel() -> [Action] {
        guard state != .finished, state != .cancelled else { return [] }
        rest(as: .cancelled)
        record = DownloadRecord()
        bytes = 0
        return [.stop, .discard]
    }

    private mutating func suspend() -> [Action] {
        guard state == .active || isQueued else { return [] }
        rest(as: .waiting)
        return [.stop]
    }

    private mutating func fail(_ failure: PaymentFailure) -> [Action] {
        guard state == .active || isQueued else { return [] }
        rest(as: .failed)
        self.failure = failure
        record.isWanted = false
        return [.save, .stop]
    }

    private mutating func rest(as state: State) {
        self.state = state
        isQueued = false
        sample = nil
        timeRemaining = nil
    }

    // MARK: The work

    private mutating func admit(_ bytes: Int64) -> [Action] {
        guard isQueued else { return [] }
        isQueued = false
        state = .active
        self.bytes = bytes
        if bytes > record.syncedBytes { suspectFrom = record.syncedBytes }
        if let sha256 = record.sha256, bytes == record.length { return [.check(sha256: sha256)] }
        return [.link(version: record.version)]
    }

    private mutating func take(_ link: ContentLink) -> [Action] {
        guard link.sha256 != record.sha256 else { return [.fetch(link, from: bytes)] }
        // The version that was begun is gone, or none was.
        record.version = link.version
        record.length = link.length
        record.sha256 = link.sha256
        record.isWhole = false
        let isBegun = bytes > 0
        forget(from: 0)
        return (isBegun ? [.truncate(to: 0)] : []) + [.save, .fetch(link, from: 0)]
    }

    private mutating func begin(at place: Int64, _ now: Timestamp) -> [Action] {
        sample = (place, now)
        if place < bytes { forget(from: place) }
        return []
    }

    private mutating func receive(_ total: Int64, _ now: Timestamp) -> [Action] {
        if total > bytes { attempts = 0 }
        bytes = total
        guard let sample, let length = record.length, total > sample.bytes else { return [] }
        let milliseconds = now.milliseconds(since: sample.at)
        guard milliseconds >= 1000 else { return [] }
        timeRemaining =
            Double(length - total) * Double(milliseconds) / 1000 / Double(total - sample.bytes)
        return []
    }

    private mutating func end(_ total: Int64, _ end: FetchEnd, _ now: Timestamp) -> [Action] {
        _ = receive(total, now)
        sample = nil
        timeRemaining = nil
        if let sha256 = record.sha256, total == record.length {
            return [.save, .check(sha256: sha256)]
        }
        attempts += 1
        guard attempts < Self.attemptsMax else {
            return fail(
                PaymentFailure(
                    .network,
                    "The content cannot be downloaded now: the store gave no more bytes in "
                        + "\(attempts) attempts. Start the download again later."))
        }
        switch end {
        case .linkRefused where attempts == 1:
            return [.save, .link(version: record.version)]
        case .outOfRange:
            forget(from: 0)
            return [.truncate(to: 0), .save, .nap(failures: attempts - 1)]
        case .ended, .linkRefused, .unavailable: return [.save, .nap(failures: attempts - 1)]
        }
    }

    private mutating func unpack() -> [Action] {
        record.isWhole = true
        return [.save, .unpack]
    }

    /// Fetches again what may be wrong: first what a power failure may have taken,
    /// and then everything.
    private mutating func refetch() -> [Action] {
        if let place = suspectFrom, place > 0, place < bytes {
            forget(from: place)
            return [.truncate(to: place), .save, .link(version: record.version)]
        }
        corruptions += 1
        forget(from: 0)
        guard corruptions < Self.corruptionsMax else {
            return [.truncate(to: 0)]
                + fail(
                    PaymentFailure(
                        .storeFault,
                        "The content arrived damaged \(corruptions) times, and was not kept. "
                            + "Start the download again later."))
        }
        return [.truncate(to: 0), .save, .link(version: record.version)]
    }

    private mutating func finish() -> [Action] {
        rest(as: .finished)
        record.isWanted = false
        return [.save, .stop]
    }

    private mutating func forget(from place: Int64) {
        bytes = place
        record.syncedBytes = min(record.syncedBytes, place)
        record.isWhole = false
        suspectFrom = nil
    }

    /// Notes bytes that are on the disk for certain.
    mutating func noteSynced(_ bytes: Int64) { record.syncedBytes = bytes }
}
