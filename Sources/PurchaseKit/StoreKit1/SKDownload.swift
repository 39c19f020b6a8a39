// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// The time that a download still takes is not known.
public let SKDownloadTimeRemainingUnknown: TimeInterval = -1

/// The state of a download.
/// [Apple's page](https://developer.apple.com/documentation/storekit/skdownloadstate)
public enum SKDownloadState: Int, Sendable {
    case waiting, active, paused, finished, failed, cancelled
}

/// Content of a product that the store hosts.
///
/// This store hosts none: no transaction has downloads, and one that an app has
/// made itself fails with `clientInvalid` when it is started.
/// [Apple's page](https://developer.apple.com/documentation/storekit/skdownload)
open class SKDownload: NSObject, @unchecked Sendable {
    private let lock = NSLock()
    private var failure: SKError?

    /// Makes an empty download, for subclasses in tests.
    public override init() {
        super.init()
    }

    open var state: SKDownloadState { lock.withLock { failure } == nil ? .waiting : .failed }
    /// The older name of ``state``.
    open var downloadState: SKDownloadState { state }
    open var contentIdentifier: String { "" }
    /// In bytes.
    open var contentLength: Int64 { 0 }
    /// In bytes.
    open var expectedContentLength: Int64 { contentLength }
    /// The location of the content, as long as the download is `.finished`.
    open var contentURL: URL? { nil }
    open var contentVersion: String { "" }
    /// Set in `.failed`.
    open var error: (any Error)? { lock.withLock { failure } }
    /// 0 to 1.
    open var progress: Float { 0 }
    /// In seconds.
    open var timeRemaining: TimeInterval { SKDownloadTimeRemainingUnknown }
    open var transaction: SKPaymentTransaction { SKPaymentTransaction() }

    /// The location of a product's content. Nil, because there is none.
    open class func contentURL(forProductID productID: String) -> URL? { nil }
    /// Removes a product's content, of which there is none.
    open class func deleteContent(forProductID productID: String) {}

    func fail() {
        lock.withLock { failure = .notOffered("The store hosts no content to download.") }
    }
}

extension SKError {
    /// The error of what compiles and this store does not offer.
    static func notOffered(_ sentence: String) -> SKError {
        SKError(.clientInvalid, userInfo: [NSLocalizedDescriptionKey: sentence])
    }
}
