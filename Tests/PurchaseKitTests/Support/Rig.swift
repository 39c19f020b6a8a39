// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import SignedData
import Synchronization
import TestSupport

@testable import PurchaseKit

/// A sheet that shows what it was shown, and answers as told.
final class ScriptedSheet: PaymentSheet {
    let shown = Diary()
    let answers = Mutex<[SheetAnswer]>([])
    let codes = Mutex<[String]>([])
    let reviews = Mutex<[SheetReview]>([])

    func present(_ contents: SheetContents) async -> SheetAnswer {
        let price = contents.formatted(contents.unitPrice)
        let total = contents.formatted(contents.total)
        let change = contents.isPriceChanged ? " changed" : contents.isOwned ? " owned" : ""
        shown.write("\(contents.title): \(contents.quantity) × \(price) = \(total)\(change)")
        return answers.withLock { $0.isEmpty ? .confirm : $0.removeFirst() }
    }

    func notify(_ sentence: String) async { shown.write(sentence) }

    func askForCode() async -> String? {
        codes.withLock { $0.isEmpty ? nil : $0.removeFirst() }
    }

    func askForReview(_ question: SheetReviewQuestion) async -> SheetReview? {
        shown.write(question.question)
        return reviews.withLock { $0.isEmpty ? nil : $0.removeFirst() }
    }

    func askForConsent(_ increase: SheetPriceIncrease) async -> SheetAnswer {
        await ask(increase.question)
    }

    func ask(_ question: String) async -> SheetAnswer {
        shown.write(question)
        return answers.withLock { $0.isEmpty ? .confirm : $0.removeFirst() }
    }
}

/// A sheet that nobody answers.
struct SilentSheet: PaymentSheet {
    func present(_ contents: SheetContents) async -> SheetAnswer {
        await untilCancelled()
        return .cancel
    }

    func notify(_ sentence: String) async {}
}

/// One installation: its disk and its store stay, its launches come and go.
final class Rig: Sendable {
    /// One run of the app.
    struct Launch {
        let device: Device
        let queue: SKPaymentQueue
        let observer: DiaryObserver

        func add(_ product: String, quantity: Int = 1) {
            let payment = SKMutablePayment()
            payment.productIdentifier = product
            payment.quantity = quantity
            queue.add(payment)
        }
    }

    static let now = Timestamp(milliseconds: 1_700_000_000_000)

    let store: FakeStore
    let files = MemoryFiles()
    let sheet = ScriptedSheet()
    let log = Diary()
    private let seed = Mutex<UInt64>(0)

    init() throws {
        store = FakeStore(try Authorities.first.get())
    }

    /// `naps`: whether waits between tries end at once; else only when woken.
    func launch(
        observer: DiaryObserver? = DiaryObserver(), customer: String? = nil,
        environment: Environment? = nil, naps: Bool = true,
        sheet: (any PaymentSheet)? = nil, isRestricted: Bool = false, waitSeconds: Int = 0,
        transport: (any StoreTransport)? = nil, files: (any DeviceFiles)? = nil,
        wall: WallClock = .standing(at: Rig.now), answerMilliseconds: Int? = nil,
        contentWriting: PartFile.Writing? = nil,
        onNap: @escaping @Sendable () -> Void = {}
    ) -> Launch {
        var configuration = DeviceConfiguration(
            storeURL: URL(fileURLWithPath: "/"), bundleID: "com.example.app",
            folder: URL(fileURLWithPath: "/"))
        configuration.trustsFirstContact = true
        configuration.customer = customer
        configuration.environment = environment
        configuration.isRestricted = isRestricted
        let callbacks = DispatchQueue(label: "callbacks")
        let log = log
        let ports = DevicePorts(
            transport: transport ?? store, files: files ?? self.files, sheet: sheet ?? self.sheet,
            wall: wall,
            randomness: .seeded(
                seed.withLock {
                    $0 += 1
                    return $0
                }),
            sleep: { duration in
                // Progress is reported by the end of each step alone.
                if duration == Device.reportEvery { return await untilCancelled() }
                onNap()
                if naps { return await giveWay(times: 1) }
                await untilCancelled()
            },
            callbacks: { body in callbacks.async(execute: body) }, log: { log.write($0) })
        var options = Device.Options()
        options.transactionsWaitSeconds = waitSeconds
        options.contentWriting = contentWriting
        if let answerMilliseconds { options.storefrontAnswerMilliseconds = answerMilliseconds }
        let device = Device(configuration: configuration, ports: ports, options: options)
        let queue = SKPaymentQueue(device: device)
        let attached = observer ?? DiaryObserver()
        if observer != nil { queue.add(attached) }
        return Launch(device: device, queue: queue, observer: attached)
    }
}
