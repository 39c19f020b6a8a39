// SPDX-License-Identifier: Apache-2.0

import Storage
package import StoreWire

/// Problems with a request that the shell itself finds, before any use case.
package enum RequestMistake: Error, Hashable {
    case unknownPath
    /// The percent-encoding of path or query is broken, or does not encode text.
    case addressInvalid
    case wrongMethod(allowed: [String])
    /// HTTP does not know the method.
    case methodUnknown
    /// The body has a transfer coding that this server does not decode.
    case codingUnknown
    /// It cannot be parsed.
    case notHTTP
    case queryInvalid(field: String, rule: String, remedy: String)
    case bodyTooLarge(bytesMax: Int)
    case bodyTimedOut
    case bodyCutShort
    /// The answer took too long and was abandoned.
    case timedOut
    case notReady(reason: String)
    /// It came neither from this machine nor over HTTPS through a trusted
    /// proxy.
    case notThroughProxy
    /// Too many requests are waiting already.
    case tooManyWaiting
    /// Too many requests of this customer or from this address are waiting
    /// already.
    case tooManyWaitingHere
    /// There is no `Host`, or more than one.
    case hostInvalid
    /// The requested host name is not configured.
    case hostUnknown
    /// A trusted proxy wrote a header that is none.
    case forwardedInvalid(field: String)
    /// A page of another site made the request.
    case originForeign
    /// The body is not JSON.
    case contentTypeWrong
    /// The client has gone and will not receive the answer.
    case clientGone
    /// A rejection by a server's own doors, with its status.
    case turnedAway(status: Int, WireError)
}

extension RequestMistake {
    /// Converts an error of the storage to the mistake that a server reports
    /// when it is not ready.
    package static func unready(_ error: any Error) -> RequestMistake {
        let fault = (error as? StorageFault)?.code
        return fault == .full || fault == .readOnly
            ? .notReady(reason: "The storage takes no writes.")
            : .notReady(reason: "The storage does not answer.")
    }
}
