// SPDX-License-Identifier: Apache-2.0

import Commerce
public import Foundation
import StoreWire
import Synchronization

/// One installation of one app: the durable queue, the session with the store,
/// and the calls to it.
///
/// Apps use an interface in Apple's shape, which uses the process's own device
/// and hears of its queue as a ``DeviceListener``. Tests create any number of
/// devices with ports of their own. An actor with its own queue, because it
/// owns a file.
///
/// `QueueRecord.apply`, a pure function, decides what must be durable. This is
/// written to disk before it has effects: before listeners hear of it and
/// before anything leaves the device.
public actor Device {
    /// Settings of a device's behaviour.
    public struct Options: Sendable {
        /// How many seconds a request for new transactions waits at the store.
        /// With 0, the device asks once when the app begins to listen, and not
        /// again.
        public var transactionsWaitSeconds = DeviceRoute.waitSecondsMax

        /// How long the app may take to decide whether a payment goes on in
        /// another storefront. Without an answer it does not.
        public var storefrontAnswerMilliseconds = 1000

        /// Writes the bytes of downloads. Nil for the system's disk.
        var contentWriting: PartFile.Writing?

        public init() {}
    }

    public nonisolated let configuration: DeviceConfiguration
    public nonisolated let ports: DevicePorts
    nonisolated let options: Options
    /// What the interfaces of this device hear with, one for each type.
    nonisolated let listeners = Mutex<[any DeviceListener]>([])
    nonisolated let launch: String
    nonisolated let file: QueueFile
    nonisolated let history: HistoryFile
    nonisolated let sheetGate = Gate()
    nonisolated let receiptGate = Gate()
    private nonisolated let executor = SerialQueue(label: "shopkeeper.device")
    private nonisolated let customerMayBuy = Mutex(true)
    private nonisolated let knownReceipt = Mutex<QueueRecord.Receipt?>(nil)
    private nonisolated let knownStorefront = Mutex<StorefrontDescription?>(nil)
    private nonisolated let knownEnvironment = Mutex<Environment?>(nil)

    /// The file as last read or written. Nil before it is read the first time.
    var record: QueueRecord?
    var session: Session?
    /// Whether the last answer of a sandbox disabled the payment sheet.
    var storeDisablesDialogs = false
    var signingIn: Task<Session, any Error>?
    /// The customer whose entries are delivered: the signed-in one, or the last
    /// one while the store cannot be reached.
    var openFor: Owner?
    /// Entries that could not be recorded: failures on a full disk.
    var unwritten: [QueueEntry] = []
    /// The tasks that carry payments, by key.
    var carriers: [String: Task<Void, Never>] = [:]
    var finishers: [String: Task<Void, Never>] = [:]
    /// Follow entries of other launches that this one has added too, by key.
    var attended: [String: Task<Void, Never>] = [:]
    var follower: Task<Void, Never>?
    var naps: [Int: Task<Void, Never>] = [:]
    var napCount = 0
    /// How often waiting tasks were woken.
    var wakeCount = 0
    /// Changes that happened while nothing listened.
    var untold: Set<String> = []
    /// The entries that were reported in this process.
    var reported: Set<String> = []
    /// Transactions that were finished in this process. An answer that was sent
    /// before must not show them again.
    var finishedSales: Set<Sale> = []
    /// Failures that are decided but could not be recorded yet, of payments
    /// that may be recorded as confirmed. By key.
    var failures: [String: PaymentFailure] = [:]
    /// Whether the file may differ from ``record``, because a write failed and
    /// the file could not be read since.
    var isRecordInDoubt = false
    var productCache: [String: ProductDescription] = [:]
    /// The country whose prices the customer confirmed, by key of the payment.
    var confirmedCountries: [String: String] = [:]
    var saidOnce: Set<String> = []
    var readings: [Owner: Reading] = [:]
    /// Restores that the app has requested and that have not begun.
    var restores: [RestoreRequest] = []
    /// Makes one restore after the other.
    var restorer: Task<Void, Never>?
    /// Ends of restores while nothing listened.
    var untoldEnds: [PaymentFailure?] = []
    /// The customers whose receipt this launch has looked for.
    var receiptsLookedFor: Set<Owner> = []
    /// What is known of downloads, by key of their entries.
    var downloads: [String: RunningDownload] = [:]
    /// Downloads that wait for a place, in order.
    var downloadQueue: [String] = []
    var activeDownloads: Set<String> = []
    var downloadTicker: Task<Void, Never>?
    var isClosed = false
    /// The customers whom this launch has asked about higher prices.
    var considered: Set<Owner> = []
    var isAskingForConsent = false
    var isAskingForReview = false
    /// The customers whose choices outside of the app this launch has taken up.
    var consideredIntents: Set<Owner> = []
    /// Takes up choices, one after the other.
    var intentTask: Task<Void, Never>?
    var mustTakeUpIntents = false
    /// What the app has decided, until the store knows.
    var intentDecisions: [String: StorePaymentAnswer] = [:]

    /// Makes a device with its own ports. Does nothing until it is used.
    public init(
        configuration: DeviceConfiguration, ports: DevicePorts, options: Options = Options()
    ) {
        self.configuration = configuration
        self.ports = ports
        self.options = options
        launch = ports.randomness.uuid()
        file = QueueFile(
            files: ports.files, storeURL: configuration.storeAddress,
            bundleID: configuration.bundleID?.value, randomness: ports.randomness)
        history = HistoryFile(files: ports.files)
    }

    public nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    /// Whether this device and its customer, as far as known, are allowed to
    /// buy.
    public nonisolated var canMakePayments: Bool {
        !configuration.isRestricted && customerMayBuy.withLock { $0 }
    }

    /// The location of the receipt. Nil if this customer has none yet, or if another process
    /// on this folder has written another customer's over it.
    public nonisolated var receiptURL: URL? {
        guard let known = knownReceipt.withLock({ $0 }) else { return nil }
        let written = (try? file.read())?.receipt ?? known
        return written.owner == known.owner ? ports.files.url(of: known.path) : nil
    }

    /// The customer's storefront, as the store last named it. Nil before.
    nonisolated var storefront: StorefrontDescription? { knownStorefront.withLock { $0 } }

    /// Ends all work of this device, and allows others to adopt its entries.
    /// For tests: an app's device lives as long as its process.
    public func close() {
        isClosed = true
        follower?.cancel()
        signingIn?.cancel()
        restorer?.cancel()
        intentTask?.cancel()
        for task in carriers.values { task.cancel() }
        for task in finishers.values { task.cancel() }
        for task in attended.values { task.cancel() }
        closeDownloads()
        ports.files.release(launch: launch)
    }

    // MARK: Requests of the API, in their order

    /// Returns the key of the payment's entry.
    @discardableResult
    nonisolated func add(_ payment: PaymentContents) -> String {
        let key = payment.intentID ?? ports.randomness.uuid()
        post { $0.enqueue(payment, key: key) }
        return key
    }

    nonisolated func finish(key: String) {
        post { $0.finishEntry(key) }
    }

    /// Delivers again what the customer has bought for good: all of it, or what
    /// was bought under one user name of the app's.
    nonisolated func restore(username: String?) {
        post { $0.askToRestore(RestoreRequest(username: username)) }
    }

    /// A listener began or stopped to listen.
    nonisolated func listenersChanged() {
        post { $0.listenersDidChange() }
    }

    nonisolated func post(_ body: @escaping @Sendable (isolated Device) -> Void) {
        LastWrites.run(on: executor.queue) { self.assumeIsolated { body($0) } }
    }

    // MARK: The record

    /// Returns the file's contents. The first call adopts them for this launch.
    func openRecord() throws(DeviceFault) -> QueueRecord {
        if let record { return record }
        do {
            try ports.files.claim(launch: launch)
            let found = try file.open(for: launch)
            let ended = endedLaunches(in: found.record)
            if ended.isEmpty {
                note(found)
                return found.record
            }
            // Remembered only after it is written, so that a launch that could
            // not adopt the entries tries again.
            if let notice = found.notice { ports.log(notice) }
            let change = try file.change(.launched(launch, ended: ended))
            note(change)
            return change.record
        } catch {
            throw .disk(error)
        }
    }

    /// The launches with entries that have ended.
    func endedLaunches(in record: QueueRecord) -> Set<String> {
        Set(record.entries.map(\.launch)).subtracting([launch])
            .filter { !ports.files.isClaimed(launch: $0) }
    }

    /// Makes an event durable, then performs its actions, and returns them.
    @discardableResult
    func change(
        _ event: QueueEvent, with files: [DeviceFile] = [],
        onlyIf fits: (QueueRecord) -> Bool = { _ in true }
    ) throws(DeviceFault) -> [QueueAction] {
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
        return change.actions
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
        case .deliverAll(let keys): deliver(keys)
        case .remove(let key):
            dropDownload(key)
            report(.removed([key]))
        case .carry(let key): carry(key, isResumed: false)
        case .resume(let key): carry(key, isResumed: true)
        case .tellFinish(let key): tellFinish(key)
        }
    }

    func entry(_ key: String) -> QueueEntry? {
        unwritten.first { $0.key == key } ?? record?.entry(key)
    }

    /// Publishes the receipt's location only while the receipt is this
    /// customer's.
    func noteReceipt() {
        let receipt = record?.receipt
        let isCurrent = receipt != nil && receipt?.owner == (session?.owner ?? openFor)
        knownReceipt.withLock { $0 = isCurrent ? receipt : nil }
    }

    /// The store's environment, as its last sign-in named it. Nil before.
    nonisolated var environment: Environment? { knownEnvironment.withLock { $0 } }

    func noteEnvironment(_ environment: Environment) {
        knownEnvironment.withLock { $0 = environment }
    }

    func noteCustomer(mayBuy: Bool) {
        customerMayBuy.withLock { $0 = mayBuy }
    }

    /// Takes up the storefront that an answer names. A change is reported.
    func noteStorefront(_ now: StorefrontDescription) {
        let before = knownStorefront.withLock { known in
            defer { known = now }
            return known
        }
        guard let before, before != now else { return }
        // Prices and texts depend on it.
        productCache = [:]
        if before.countryCode != now.countryCode { report(.storefrontChanged) }
    }

    /// Logs a sentence once in a process.
    func sayOnce(_ sentence: String) {
        if saidOnce.insert(sentence).inserted { ports.log(sentence) }
    }
}
