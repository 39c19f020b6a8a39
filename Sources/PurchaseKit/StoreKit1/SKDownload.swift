// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// The time that a download still takes is not known.
public let SKDownloadTimeRemainingUnknown: TimeInterval = -1

/// The state of a download.
/// [Apple's page](https://developer.apple.com/documentation/storekit/skdownloadstate)
public enum SKDownloadState: Int, Sendable {
    case waiting, active, paused, finished, failed, cancelled
}

/// Content of a product that the store hosts, and its way to this device.
///
/// It changes only right before observers are notified of it, on their queue.
/// [Apple's page](https://developer.apple.com/documentation/storekit/skdownload)
open class SKDownload: NSObject, @unchecked Sendable {
    private let lock = NSLock()
    private var facts: DownloadFacts?
    private var failure: PaymentFailure?
    private let owner: SKPaymentTransaction?

    /// Makes an empty download, for subclasses in tests.
    public override init() {
        owner = nil
        super.init()
    }

    init(_ facts: DownloadFacts, of transaction: SKPaymentTransaction) {
        self.facts = facts
        failure = facts.failure
        owner = transaction
        super.init()
    }

    /// The product's content is complete in `.finished`, whatever ``progress`` says.
    open var state: SKDownloadState {
        lock.withLock {
            if failure != nil { return .failed }
            return facts.map { SKDownloadState($0.state) } ?? .waiting
        }
    }
    /// The older name of ``state``.
    open var downloadState: SKDownloadState { state }
    /// The product's id.
    open var contentIdentifier: String { current?.productID ?? "" }
    /// Of the package, in bytes.
    open var contentLength: Int64 { current?.length ?? 0 }
    /// Of the package, in bytes.
    open var expectedContentLength: Int64 { contentLength }
    /// The content, in `.finished` and until the transaction is finished: a folder
    /// with `ContentInfo.plist` and `Contents`, or the package itself with
    /// ``DeviceConfiguration/contentForm``. Copy or move what you need.
    open var contentURL: URL? { state == .finished ? current?.content : nil }
    /// Integers with dots between them.
    open var contentVersion: String { current?.version ?? "" }
    /// Set in `.failed`.
    open var error: (any Error)? { lock.withLock { failure }.map(\.transactionError) }
    /// 0 to 1.
    open var progress: Float { Float(current?.progress ?? 0) }
    /// In seconds, or `SKDownloadTimeRemainingUnknown`.
    open var timeRemaining: TimeInterval {
        current?.timeRemaining ?? SKDownloadTimeRemainingUnknown
    }
    open var transaction: SKPaymentTransaction { owner ?? SKPaymentTransaction() }

    /// Nil: the content belongs to the app, which moves it from ``contentURL``.
    open class func contentURL(forProductID productID: String) -> URL? { nil }
    /// Does nothing: the content belongs to the app.
    open class func deleteContent(forProductID productID: String) {}

    private var current: DownloadFacts? { lock.withLock { facts } }

    /// Identifies the transaction on its device. Nil if an app has made it.
    var key: String? { current?.key }

    func take(_ facts: DownloadFacts) {
        lock.withLock {
            self.facts = facts
            failure = facts.failure
        }
    }

    func fail(_ failure: PaymentFailure) { lock.withLock { self.failure = failure } }
}

extension SKDownloadState {
    init(_ state: DownloadMachine.State) {
        self =
            switch state {
            case .waiting: .waiting
            case .active: .active
            case .paused: .paused
            case .finished: .finished
            case .failed: .failed
            case .cancelled: .cancelled
            }
    }
}

extension SKError {
    /// The error of what compiles and this store does not offer.
    static func notOffered(_ sentence: String) -> SKError {
        SKError(.clientInvalid, userInfo: [NSLocalizedDescriptionKey: sentence])
    }
}
