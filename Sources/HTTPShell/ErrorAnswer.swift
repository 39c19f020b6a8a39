// SPDX-License-Identifier: Apache-2.0

package import Hummingbird
import StoreWire
package import WireErrors

/// The answer to a failed request over HTTP, and what is logged about it.
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

    package init(_ reply: ErrorReply, allowed: [String] = []) {
        let body = try? Response.json(reply.error, status: reply.status)
        var response = body ?? .empty(status: reply.status)
        if !allowed.isEmpty { response.headers[.allow] = allowed.joined(separator: ", ") }
        if let seconds = reply.retryAfterSeconds { response.headers[.retryAfter] = "\(seconds)" }
        if reply.status == 401 { response.headers[.wwwAuthenticate] = "Bearer" }
        self.init(response: response, code: reply.error.code, fault: reply.fault)
    }

    /// Explains the mistakes that the shell has found, and the errors that every
    /// server may meet.
    init(_ error: any Error, words: ErrorWords) {
        guard let mistake = error as? RequestMistake else {
            self.init(ErrorReply(error, words: words))
            return
        }
        let reply = ErrorReply(mistake, words)
        if case .wrongMethod(let allowed) = mistake {
            self.init(reply, allowed: allowed)
        } else {
            self.init(reply)
        }
    }
}

extension ErrorReply {
    init(_ mistake: RequestMistake, _ words: ErrorWords) {
        let error = words.described(mistake)
        switch mistake {
        case .unknownPath: self.init(404, error)
        case .wrongMethod: self.init(405, error)
        case .addressInvalid, .queryInvalid, .bodyCutShort, .hostInvalid, .forwardedInvalid,
            .notHTTP:
            self.init(400, error)
        case .notThroughProxy, .originForeign: self.init(403, error)
        case .hostUnknown: self.init(421, error)
        case .methodUnknown, .codingUnknown: self.init(501, error)
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
