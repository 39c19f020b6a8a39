// SPDX-License-Identifier: Apache-2.0

package import Hummingbird
import Storage
package import StoreWire
import StrictJSON

/// The answer to a failed request, and what is logged about it. The answer
/// contains nothing internal: the reason of a fault is only logged.
package struct ErrorAnswer: Sendable {
    package let response: Response
    /// The code of the refusal, for the log.
    package let code: String?
    /// The fault on the server's side, for the log. Nil if the request was
    /// wrong.
    package let fault: String?

    package init(response: Response, code: String?, fault: String? = nil) {
        self.response = response
        self.code = code
        self.fault = fault
    }

    package init(
        _ status: Int, _ error: WireError, allowed: [String] = [],
        retryAfterSeconds: Int? = nil, fault: String? = nil
    ) {
        let body = try? Response.json(error, status: status)
        var response = body ?? .empty(status: status)
        if !allowed.isEmpty { response.headers[.allow] = allowed.joined(separator: ", ") }
        if let retryAfterSeconds { response.headers[.retryAfter] = "\(retryAfterSeconds)" }
        if status == 401 { response.headers[.wwwAuthenticate] = "Bearer" }
        self.init(response: response, code: error.code, fault: fault)
    }

    /// Explains the errors that any server may meet: mistakes found by the
    /// shell, malformed bodies, faults of the storage, a server that is
    /// stopping. All other errors are bugs.
    package init(_ error: any Error, words: ErrorWords) {
        switch error {
        case let mistake as RequestMistake: self.init(mistake: mistake, words)
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

    private init(mistake: RequestMistake, _ words: ErrorWords) {
        let error = words.described(mistake)
        switch mistake {
        case .unknownPath: self.init(404, error)
        case .wrongMethod(let allowed): self.init(405, error, allowed: allowed)
        case .addressInvalid, .queryInvalid, .bodyCutShort, .hostInvalid: self.init(400, error)
        case .notThroughProxy, .originForeign: self.init(403, error)
        case .hostUnknown: self.init(421, error)
        case .contentTypeWrong: self.init(415, error)
        case .tooManyWaitingHere: self.init(429, error, retryAfterSeconds: 30)
        case .tooManyWaiting: self.init(503, error, retryAfterSeconds: 30)
        case .bodyTooLarge: self.init(413, error)
        case .bodyTimedOut: self.init(408, error)
        case .timedOut: self.init(503, error, retryAfterSeconds: 1, fault: "timed out")
        case .notReady(let reason): self.init(503, error, retryAfterSeconds: 1, fault: reason)
        // The client has gone. 499 is the status that proxies log in this
        // case.
        case .clientGone: self.init(499, error)
        case .turnedAway(let status, _): self.init(status, error)
        }
    }
}
