// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreWire

/// What interfaces get to know about a download.
struct DownloadFacts: Sendable {
    /// The key of the transaction's entry.
    var key: String
    var productID: String
    var version: String
    var length: Int64
    var state = DownloadMachine.State.waiting
    var progress = 0.0
    /// In seconds. Nil if it is not known.
    var timeRemaining: Double?
    var content: URL?
    var failure: PaymentFailure?
}

extension DownloadFacts {
    /// A download before the app has started it. Nil if the entry has no content.
    init?(_ entry: QueueEntry) {
        guard entry.isOwedToApp, let content = entry.content else { return nil }
        key = entry.key
        productID = entry.payment.productID
        version = content.version
        length = content.length
    }
}

extension QueueEntry {
    /// The content that the store hosts for it.
    var content: ContentDescription? { sold?.content ?? restored?.content }
}
