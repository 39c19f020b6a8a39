// SPDX-License-Identifier: Apache-2.0

import Storage
package import StoreWire
import StrictJSON

/// The answer to a failed request as values: what the client receives, and what is only
/// logged. It contains nothing internal except ``fault``.
package struct ErrorReply: Hashable, Sendable {
    /// The HTTP status.
    package let status: Int
    /// The body.
    package let error: WireError
    /// When a retry makes sense, if that is known.
    package let retryAfterSeconds: Int?
    /// The fault on the server's side, for the log. Nil if the request was wrong.
    package let fault: String?

    package init(
        _ status: Int, _ error: WireError, retryAfterSeconds: Int? = nil, fault: String? = nil
    ) {
        self.status = status
        self.error = error
        self.retryAfterSeconds = retryAfterSeconds
        self.fault = fault
    }

    /// Explains the errors that every server may meet: malformed bodies, faults of the
    /// storage, a server that is stopping. All other errors are bugs.
    package init(_ error: any Error, words: ErrorWords) {
        switch error {
        case let failure as JSONFailure: self.init(400, ErrorWords.notJSON(failure))
        case let failure as DecodingError: self.init(400, ErrorWords.wrongShape(failure))
        case let fault as StorageFault: self.init(storage: fault, words)
        case is CancellationError: self.init(503, words.stopping, retryAfterSeconds: 1)
        default: self.init(500, words.bug, fault: "\(type(of: error))")
        }
    }

    private init(storage fault: StorageFault, _ words: ErrorWords) {
        let reason = fault.description
        switch fault.code {
        case .busy: self.init(503, words.busy, retryAfterSeconds: 1, fault: reason)
        case .outcomeUnknown:
            self.init(503, words.outcomeUnknown, retryAfterSeconds: 1, fault: reason)
        case .unavailable:
            self.init(503, words.storageUnavailable, retryAfterSeconds: 5, fault: reason)
        case .full: self.init(503, words.storageFull, retryAfterSeconds: 5, fault: reason)
        case .readOnly: self.init(503, words.storageReadOnly, retryAfterSeconds: 5, fault: reason)
        default: self.init(500, words.bug, fault: reason)
        }
    }
}
