// SPDX-License-Identifier: Apache-2.0

import Commerce
import Dispatch
import Foundation
import PurchaseKit
import PurchaseKitTesting
import Shop
import SignedData
import Storage
import StoreWire
import Synchronization
import TestSupport

/// What a world has wrong with it, to show that the auditor sees it.
enum Flaw: Sendable, CaseIterable {
    /// Each sending of a payment is a purchase of its own, and what was sold is
    /// finished before the next.
    case purchaseIDsForgotten
    /// The device's disk never synced.
    case writesNotSynced
    /// The processor charges anew each time that it is asked.
    case chargeKeysForgotten
}

/// A purchase from the tap to the finish, with a cut somewhere, and with
/// everything that dies started again until all is quiet. A class, because
/// ports, observers and the run share it.
final class CutRun: @unchecked Sendable {
    let tape: Tape
    let bell: Bell
    let disk = Disk()
    let store: CutStore
    let processor: Processor?
    let product: String
    /// Whether a parent answers before anything is sold.
    let asksToBuy: Bool
    let flaw: Flaw?
    let delivered = Mutex<[String]>([])
    private(set) var complaints: [String] = []
    private var app: CutApp
    private var isAnswered = false
    private let randomness = Randomness.seeded(11)

    init(
        _ product: String, cut: Cut?, hasProcessor: Bool, asksToBuy: Bool = false,
        flaw: Flaw? = nil, engine: TestEngine = TestEngine()
    ) {
        tape = Tape(cut: cut)
        bell = Bell(patience: flaw == nil ? Patience.long : .seconds(2))
        processor = hasProcessor ? Processor(forgetsKeys: flaw == .chargeKeysForgotten) : nil
        store = CutStore(tape: tape, processor: processor, engine: engine)
        self.product = product
        self.asksToBuy = asksToBuy
        self.flaw = flaw
        app = CutApp(life: Life())
    }

    /// Runs to the end and answers what the auditor has to say.
    func run() async throws -> [String] {
        let house = try await store.live()
        try await house.realm.catalogue.putCatalogue(
            Goods.catalogue, app: AppDescription(bundleID: Goods.bundleID))
        // The store that sells starts under the tape.
        house.life.kill()
        app.life.kill()
        tape.start()
        do {
            try await buyAndFinish()
        } catch is Bell.NothingHappened {
            complaints.append("the run came to a halt")
        }
        tape.stop()
        try await audit()
        await app.device?.close()
        await store.close()
        return complaints
    }

    private func buyAndFinish() async throws {
        try await calm()
        app.buy(product, asksToBuy: asksToBuy)
        while true {
            try await calm()
            let open = app.open
            if open.isEmpty { return }
            for transaction in open where transaction.transactionState == .purchased {
                try await checkReceipt(holds: transaction.transactionIdentifier ?? "none")
            }
            app.finish(open)
        }
    }

    /// Starts what has died, until nothing is under way any more.
    private func calm() async throws {
        while true {
            let rung = bell.rung
            if !app.life.isAlive { await launch() }
            await answerOnce()
            if try await isCalm() { return }
            try await bell.next(since: rung)
        }
    }

    private static let waiting = Statement(
        "audit.waiting", "SELECT purchase_id FROM purchases WHERE waiting_for IS NOT NULL")

    /// The parent says yes to what waits, again and again until the store has
    /// heard it, while the app does not run.
    private func answerOnce() async {
        guard asksToBuy, !isAnswered, disk.entries.contains(where: { $0.state == "waiting" })
        else { return }
        do {
            let row = try await store.database().read { try $0.first(Self.waiting) }
            guard let id = try row?.text("purchase_id") else { return }
            _ = try await store.live().realm.purchases.answerApproval(
                id, AnswerApprovalRequest(answer: "approved"), RequestContext(requestID: "yes"))
            isAnswered = true
            app.life.kill()
        } catch {}
        bell.ring()
    }

    private func isCalm() async throws -> Bool {
        guard app.life.isAlive, app.life.hasAsked, app.isQuiet else { return false }
        let entries = disk.entries
        guard entries.allSatisfy({ ["purchased", "failed"].contains($0.state) }),
            entries.count == app.open.count
        else { return false }
        let here = Set(entries.compactMap(\.sold?.transactionID))
        return try await sold().allSatisfy { $0.isFinished || here.contains($0.id) }
    }

    func launch() async {
        await app.device?.close()
        if flaw == .writesNotSynced { disk.lose() }
        let life = Life()
        let next = CutApp(life: life)
        next.bell = bell
        next.onPurchased = { id in self.delivered.withLock { $0.append(id) } }
        next.start(ports(life), bundleID: Goods.bundleID)
        app = next
    }

    /// The app ends by itself and is started again.
    func restart() async throws -> CutApp {
        app.life.kill()
        let house = try await store.live()
        house.life.kill()
        try await calm()
        return app
    }

    func complain(_ sentence: String) { complaints.append(sentence) }

    private func ports(_ life: Life) -> DevicePorts {
        let callbacks = DispatchQueue(label: "shopkeeper.cut.callbacks")
        let bell = bell
        return DevicePorts(
            transport: CutTransport(
                store: store, life: life, tape: tape, bell: bell,
                forgetsPurchaseIDs: flaw == .purchaseIDsForgotten, randomness: randomness),
            files: CutFiles(disk: disk, life: life, tape: tape, bell: bell),
            sheet: CutSheet(life: life, tape: tape, bell: bell),
            wall: .standing(at: TestWallClock.start), randomness: randomness,
            sleep: noPause,
            callbacks: { body in
                callbacks.async {
                    if life.isAlive { body() }
                    bell.ring()
                }
            }, log: { _ in })
    }
}

/// One life of an app: an observer as app code has it. A class with a lock:
/// it is told on the callback queue.
final class CutApp: NSObject, SKPaymentTransactionObserver, @unchecked Sendable {
    let life: Life
    var bell: Bell?
    var onPurchased: (String) -> Void = { _ in }
    private(set) var device: Device?
    private var queue: SKPaymentQueue?
    private let lock = NSLock()
    private var told: [SKPaymentTransaction] = []
    private var finishing: [SKPaymentTransaction] = []
    private var isAdding = false

    init(life: Life) {
        self.life = life
    }

    /// What was told as sold or failed and has not left the queue.
    var open: [SKPaymentTransaction] { lock.withLock { told } }

    /// Whether the queue has heard all that the app asked of it.
    var isQuiet: Bool { lock.withLock { !isAdding && finishing.isEmpty } }

    func start(_ ports: DevicePorts, bundleID: BundleID) {
        let url = URL(fileURLWithPath: "/")
        var configuration = DeviceConfiguration(storeURL: url, bundleID: bundleID, folder: url)
        configuration.trustsFirstContact = true
        configuration.appVersion = "1.0"
        var options = Device.Options()
        options.transactionsWaitSeconds = 0
        let device = Device(configuration: configuration, ports: ports, options: options)
        let queue = SKPaymentQueue(device: device)
        self.device = device
        self.queue = queue
        queue.add(self)
    }

    func buy(_ product: String, asksToBuy: Bool) {
        lock.withLock { isAdding = true }
        let payment = SKMutablePayment()
        payment.productIdentifier = product
        payment.simulatesAskToBuyInSandbox = asksToBuy
        queue?.add(payment)
    }

    func finish(_ transactions: [SKPaymentTransaction]) {
        lock.withLock { finishing += transactions }
        for transaction in transactions { queue?.finishTransaction(transaction) }
    }

    func paymentQueue(
        _ queue: SKPaymentQueue, updatedTransactions transactions: [SKPaymentTransaction]
    ) {
        for transaction in transactions {
            let state = transaction.transactionState
            lock.withLock {
                isAdding = false
                guard state == .purchased || state == .failed else { return }
                if !told.contains(where: { $0 === transaction }) { told.append(transaction) }
            }
            if state == .purchased { onPurchased(transaction.transactionIdentifier ?? "none") }
        }
    }

    func paymentQueue(
        _ queue: SKPaymentQueue, removedTransactions transactions: [SKPaymentTransaction]
    ) {
        lock.withLock {
            told.removeAll { one in transactions.contains { $0 === one } }
            finishing.removeAll { one in transactions.contains { $0 === one } }
        }
    }
}
