// SPDX-License-Identifier: Apache-2.0

import Shop

/// What the shell itself finds wrong with a request, before any use case.
enum RequestMistake: Error, Hashable {
    case unknownPath
    case wrongMethod(allowed: [String])
    case queryInvalid(field: String, rule: String, remedy: String)
    case keyMissing(Door)
    case keyWrong(Door)
    /// The key opens another door.
    case keyOfAnotherDoor(Door)
    case tokenMissing
    /// The control door of a production realm.
    case sandboxOnly
    case bodyTooLarge(bytesMax: Int)
    case bodyTimedOut
    case bodyCutShort
    /// The answer took too long and was given up.
    case timedOut
    case notReady(reason: String)
    /// Whoever asked has gone: nobody hears the answer.
    case clientGone
}
