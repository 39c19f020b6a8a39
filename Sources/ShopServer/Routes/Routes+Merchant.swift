// SPDX-License-Identifier: Apache-2.0

import HTTPShell
import Shop

/// Apple's server protocol, with Apple's kind of token.
extension Routes {
    static let merchants: [Route] = [
        Route("GET", "/inApps/v1/transactions/{}", .merchant) {
            try .json(try await $0.merchant.transactionInfo($0.parts.raw[0]))
        },
        Route("POST", "/inApps/v1/transactions/{}/finish", .merchant) {
            try await $0.merchant.finish($0.parts.raw[0], $0.context)
            return .empty(status: 200)
        },
        Route("PUT", "/inApps/v1/transactions/{}/appAccountToken", .merchant) {
            try await $0.merchant.setAppAccountToken(
                $0.parts.raw[0], try await $0.call.bodyBytes(), $0.context)
            return .empty(status: 200)
        },
        Route("GET", "/inApps/v2/history/{}", .merchant) {
            try .json(
                try await $0.merchant.history(
                    of: $0.parts.raw[0], omitsFinishedConsumables: false, $0.queries))
        },
        Route("GET", "/inApps/v1/history/{}", .merchant) {
            try .json(
                try await $0.merchant.history(
                    of: $0.parts.raw[0], omitsFinishedConsumables: true, $0.queries))
        },
        Route("GET", "/inApps/v2/refund/lookup/{}", .merchant) {
            try .json(
                try await $0.merchant.refundHistory(
                    of: $0.parts.raw[0], revision: $0.query("revision")))
        },
        Route("GET", "/inApps/v1/refund/lookup/{}", .merchant) {
            try .json(try await $0.merchant.refundHistoryV1(of: $0.parts.raw[0]))
        },
        Route("GET", "/inApps/v1/subscriptions/{}", .merchant) {
            try .json(
                try await $0.merchant.statuses(
                    of: $0.parts.raw[0], only: $0.queries("status")))
        },
        Route("PUT", "/inApps/v1/subscriptions/extend/{}", .merchant) {
            try .json(
                try await $0.merchant.extend(
                    $0.parts.raw[0], try await $0.call.bodyBytes(), $0.context))
        },
        Route("POST", "/inApps/v1/subscriptions/extend/mass", .merchant) {
            try .json(
                try await $0.merchant.extendAll(try await $0.call.bodyBytes(), $0.context))
        },
        Route("GET", "/inApps/v1/subscriptions/extend/mass/{}/{}", .merchant) {
            try .json(
                try await $0.merchant.extensionStatus(
                    $0.parts.raw[1], product: $0.parts.raw[0]))
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
