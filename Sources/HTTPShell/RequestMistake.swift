// SPDX-License-Identifier: Apache-2.0

import Storage
package import StoreWire

/// What a shell itself finds wrong with a request, before any use case.
package enum RequestMistake: Error, Hashable {
    case unknownPath
    case wrongMethod(allowed: [String])
    case queryInvalid(field: String, rule: String, remedy: String)
    case bodyTooLarge(bytesMax: Int)
    case bodyTimedOut
    case bodyCutShort
    /// The answer took too long and was given up.
    case timedOut
    case notReady(reason: String)
    /// It came neither from this machine nor over HTTPS through a proxy that
    /// is trusted.
    case notThroughProxy
    /// Too many wait already.
    case tooManyWaiting
    /// Too many of this customer, or from this address, wait already.
    case tooManyWaitingHere
    /// There is no `Host`, or more than one.
    case hostInvalid
    /// Nobody configured the name that was asked for.
    case hostUnknown
    /// Another site's page asks.
    case originForeign
    /// The body is of another type than JSON.
    case contentTypeWrong
    /// Whoever asked has gone: nobody hears the answer.
    case clientGone
    /// What a server's own doors turn away, with its status.
    case turnedAway(status: Int, WireError)
}

extension RequestMistake {
    /// What a server that is not ready says of whatever its storage threw.
    package static func unready(_ error: any Error) -> RequestMistake {
        let fault = (error as? StorageFault)?.code
        return fault == .full || fault == .readOnly
            ? .notReady(reason: "The storage takes no writes.")
            : .notReady(reason: "The storage does not answer.")
    }
}
