// SPDX-License-Identifier: Apache-2.0

import HTTPShell
import Shop

/// Apple's server protocol, with Apple's kind of token.
extension Route {
    static let merchants = [
        Route("GET", "/inApps/v1/transactions/{}", .merchant) {
            try .json(
                try await $0.realm.merchant.transactionInfo($0.parts[0], bearer: $0.call.bearer))
        },
        Route("POST", "/inApps/v1/notifications/test", .merchant) {
            try .json(
                try await $0.realm.merchant.requestTestNotification(
                    bearer: $0.call.bearer, $0.context))
        },
        Route("GET", "/inApps/v1/notifications/test/{}", .merchant) {
            try .json(
                try await $0.realm.merchant.testNotification($0.parts[0], bearer: $0.call.bearer))
        },
        Route("POST", "/inApps/v1/notifications/history", .merchant) {
            try .json(
                try await $0.realm.merchant.notificationHistory(
                    try await $0.call.bodyBytes(), paginationToken: $0.query("paginationToken"),
                    bearer: $0.call.bearer))
        },
    ]
}
