// SPDX-License-Identifier: Apache-2.0

import HTTPShell
import Hummingbird
import Shop
import StoreWire

/// The door for merchants' servers: Apple's server protocol with Apple's kind
/// of token.
struct AppleDoor: Sendable {
    let realm: Realm
    let call: Call

    func answer(_ route: Route) async throws -> Response {
        switch route {
        case .transactionInfo(let id):
            return try .json(try await realm.transactionInfo(id, bearer: call.bearer))
        case .requestTestNotification:
            return try .json(
                try await realm.requestTestNotification(bearer: call.bearer, call.context))
        case .testNotification(let token):
            return try .json(try await realm.testNotification(token, bearer: call.bearer))
        case .notificationHistory:
            return try .json(
                try await realm.notificationHistory(
                    try await call.bodyBytes(), paginationToken: call.query("paginationToken"),
                    bearer: call.bearer))
        default: throw RequestMistake.unknownPath
        }
    }
}
