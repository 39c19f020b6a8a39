// SPDX-License-Identifier: Apache-2.0

import HTTPShell
import Shop

/// Apple's server protocol, with Apple's kind of token.
extension Routes {
    static let merchants: [Route] = [
        Route("GET", "/inApps/v1/transactions/{}", .merchant) {
            try .json(try await $0.merchant.transactionInfo($0.parts.raw[0]))
        },
        Route("POST", "/inApps/v1/notifications/test", .merchant) {
            try .json(try await $0.merchant.requestTestNotification($0.context))
        },
        Route("GET", "/inApps/v1/notifications/test/{}", .merchant) {
            try .json(try await $0.merchant.testNotification($0.parts.raw[0]))
        },
        Route("POST", "/inApps/v1/notifications/history", .merchant) {
            try .json(
                try await $0.merchant.notificationHistory(
                    try await $0.call.bodyBytes(), paginationToken: $0.query("paginationToken")))
        },
    ]
}
