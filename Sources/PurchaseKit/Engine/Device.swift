// SPDX-License-Identifier: Apache-2.0

import Commerce
public import Foundation
import StoreWire
import Synchronization

/// One installation of one app, and its part in every purchase: the durable
/// queue, the session with the store, and what is asked of it.
///
/// Apps use ``SKPaymentQueue`` and ``SKProductsRequest``, which stand on the
/// process's own device. Tests make as many as they want, each with its own
/// ports. An actor on a queue of its own, because it owns a file.
///
/// What must last is decided by `QueueRecord.apply`, a pure function, and is
/// on disk before it has effects: before an observer hears of it and before
/// anything leaves the device.
public actor Device {
    /// How a device behaves.
    public struct Options: Sendable {
        /// How long a question for new transactions waits at the store; 0
        /// asks once when the first observer is added, and not again.
        public var transactionsWaitSeconds = DeviceRoute.waitSecondsMax

        public init() {}
    }

    public nonisolated let configuration: DeviceConfiguration
    public nonisolated let ports: DevicePorts
    nonisolated let options: Options
    nonisolated let backing: QueueBacking
    nonisolated let launch: String
    nonisolated let file: QueueFile
    nonisolated let sheetGate = Gate()
    nonisolated let receiptGate = Gate()
    private nonisolated let executor = SerialQueue(label: "shopkeeper.device")
    private nonisolated let customerMayBuy = Mutex(true)
    private nonisolated let receiptLocation = Mutex<URL?>(nil)

    /// The file as last read or written; nil before the first look.
    var record: QueueRecord?
    var session: Session?
    /// Whether the store, a sandbox, last told to show no payment sheet.
    var storeDisablesDialogs = false
    var signingIn: Task<Session, any Error>?
    /// Whose entries are delivered: who signed in, or who did last while the
    /// store cannot be asked.
    var openFor: Owner?
    /// Entries that could not be written: failures on a full disk.
    var unwritten: [QueueEntry] = []
    /// Payments being carried, by key.
    var carriers: [String: Task<Void, Never>] = [:]
    var finishers: [String: Task<Void, Never>] = [:]
    var follower: Task<Void, Never>?
    var naps: [Int: Task<Void, Never>] = [:]
    var napCount = 0
    /// How often something gave hope.
    var wakeCount = 0
    /// Changes that happened while nobody listened.
    var untold: Set<String> = []
    /// Transactions finished in this process: an answer that was under way
    /// when they were must not bring them back.
    var finishedSales: Set<Sale> = []
    /// Decided failures of payments that may be confirmed on disk and could
    /// not be written yet, by key.
    var failures: [String: PaymentFailure] = [:]
    /// Whether the file may differ from ``record``: a write failed, and the
    /// file could not be read since.
    var isRecordInDoubt = false
    var productCache: [String: ProductDescription] = [:]
    var saidOnce: Set<String> = []
    var cursors: [Owner: ReadCursor] = [:]
    var isClosed = false

    /// A device on its own ports. Touches nothing until it is used.
    public init(
        configuration: DeviceConfiguration, ports: DevicePorts, options: Options = Options()
    ) {
        self.configuration = configuration
        self.ports = ports
        self.options = options
        backing = QueueBacking(callbacks: ports.callbacks)
        launch = ports.randomness.uuid()
        file = QueueFile(
            files: ports.files, storeURL: configuration.storeAddress,
            bundleID: configuration.bundleID?.value, randomness: ports.randomness)
    }

    public nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    /// Whether this device, and its customer as far as known, may buy.
    public nonisolated var canMakePayments: Bool {
        !configuration.isRestricted && customerMayBuy.withLock { $0 }
    }

    /// Where the receipt lies; nil before there is one for this customer.
    public nonisolated var receiptURL: URL? { receiptLocation.withLock { $0 } }

    /// Ends all work of this device and lets others take up its entries. For
    /// tests; an app's device lives as long as its process.
    public func close() {
        isClosed = true
        follower?.cancel()
        signingIn?.cancel()
        for task in carriers.values { task.cancel() }
        for task in finishers.values { task.cancel() }
        ports.files.release(launch: launch)
    }

    // MARK: What the face asks for, in the order in which it asks

    nonisolated func add(_ payment: PaymentContents) {
        post { $0.enqueue(payment) }
    }

    nonisolated func finish(key: String) {
        post { $0.finishEntry(key) }
    }

    nonisolated func observersChanged() {
        post { $0.observersDidChange() }
    }

    private nonisolated func post(_ body: @escaping @Sendable (isolated Device) -> Void) {
        LastWrites.run(on: executor.queue) { self.assumeIsolated { body($0) } }
    }

    // MARK: The record

    /// The file's contents; taken up for this launch at the first look.
    func openRecord() throws(DeviceFault) -> QueueRecord {
        if let record { return record }
        do {
            try ports.files.claim(launch: launch)
            let found = try file.open(for: launch)
            let others = Set(found.record.entries.map(\.launch)).subtracting([launch])
            let ended = others.filter { !ports.files.isClaimed(launch: $0) }
            if ended.isEmpty {
                note(found)
                return found.record
            }
            // Known only once it is written: a launch that could not take up what
            // another left tries again.
            if let notice = found.notice { ports.log(notice) }
            let change = try file.change(.launched(launch, ended: ended))
            note(change)
            return change.record
        } catch {
            throw .disk(error)
        }
    }

    /// Makes an event durable, then does what follows from it.
    func change(
        _ event: QueueEvent, with files: [DeviceFile] = [],
        onlyIf fits: (QueueRecord) -> Bool = { _ in true }
    ) throws(DeviceFault) {
        _ = try openRecord()
        guard !isClosed else { throw .overtaken }
        let change: QueueFile.Change
        do {
            change = try file.change(event, with: files, onlyIf: fits, knowing: record)
        } catch QueueFileFault.overtaken {
            noteFile()
            throw .overtaken
        } catch {
            // A write may have failed after the new file was in place.
            noteFile()
            throw .disk(error)
        }
        note(change)
        noteReceipt()
        for action in change.actions { perform(action) }
    }

    private func noteFile() {
        guard let found = try? file.read() else {
            isRecordInDoubt = true
            return
        }
        record = found
        isRecordInDoubt = false
    }

    private func note(_ change: QueueFile.Change) {
        record = change.record
        isRecordInDoubt = false
        if let notice = change.notice { ports.log(notice) }
    }

    private func perform(_ action: QueueAction) {
        switch action {
        case .deliver(let key): deliver([key])
        case .remove(let key): backing.hear(.removed([key]))
        case .carry(let key): carry(key, isResumed: false)
        case .tellFinish(let key): tellFinish(key)
        }
    }

    func entry(_ key: String) -> QueueEntry? {
        unwritten.first { $0.key == key } ?? record?.entry(key)
    }

    /// The receipt is shown to the app only while it is this customer's.
    func noteReceipt() {
        let receipt = record?.receipt
        let isCurrent = receipt != nil && receipt?.owner == (session?.owner ?? openFor)
        let url = isCurrent ? receipt.flatMap { ports.files.url(of: $0.path) } : nil
        receiptLocation.withLock { $0 = url }
    }

    func noteCustomer(mayBuy: Bool) {
        customerMayBuy.withLock { $0 = mayBuy }
    }

    /// Says something once in a process.
    func sayOnce(_ sentence: String) {
        if saidOnce.insert(sentence).inserted { ports.log(sentence) }
    }
}
