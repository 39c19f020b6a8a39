// SPDX-License-Identifier: Apache-2.0

import HTTPShell
import Shop

/// Apple's server protocol, with Apple's kind of token. Where Apple names no limit, it
/// is that of most addresses.
extension Routes {
    static let merchants: [Route] = [
        Route("GET", "/inApps/v1/transactions/{}", .merchant(.fifty)) {
            try .json(try await $0.merchant.transactionInfo($0.parts.raw[0]))
        },
        Route("POST", "/inApps/v1/transactions/{}/finish", .merchant(.fifty)) {
            try await $0.merchant.finish($0.parts.raw[0], $0.context)
            return .empty(status: 200)
        },
        Route("PUT", "/inApps/v1/transactions/{}/appAccountToken", .merchant(.fifty)) {
            try await $0.merchant.setAppAccountToken(
                $0.parts.raw[0], try await $0.call.bodyBytes(), $0.context)
            return .empty(status: 200)
        },
        Route("GET", "/inApps/v1/transactions/appTransactions/{}", .merchant(.fifty)) {
            try .json(try await $0.merchant.appTransaction(of: $0.parts.raw[0]))
        },
        Route("PUT", "/inApps/v2/transactions/consumption/{}", .merchant(.fifty)) {
            try await $0.merchant.reportConsumption(
                of: $0.parts.raw[0], try await $0.call.bodyBytes(), $0.context)
            return .empty(status: 202)
        },
        Route("PUT", "/inApps/v1/transactions/consumption/{}", .merchant(.fifty)) {
            try await $0.merchant.reportConsumptionV1(
                of: $0.parts.raw[0], try await $0.call.bodyBytes(), $0.context)
            return .empty(status: 202)
        },
        Route("GET", "/inApps/v1/lookup/{}", .merchant(.ten)) {
            try .json(try await $0.merchant.lookUp(order: $0.parts.raw[0]))
        },
        Route("GET", "/inApps/v2/history/{}", .merchant(.fifty)) {
            try .json(
                try await $0.merchant.history(
                    of: $0.parts.raw[0], omitsFinishedConsumables: false, $0.queries))
        },
        Route("GET", "/inApps/v1/history/{}", .merchant(.fifty)) {
            try .json(
                try await $0.merchant.history(
                    of: $0.parts.raw[0], omitsFinishedConsumables: true, $0.queries))
        },
        Route("GET", "/inApps/v2/refund/lookup/{}", .merchant(.ten)) {
            try .json(
                try await $0.merchant.refundHistory(
                    of: $0.parts.raw[0], revision: $0.query("revision")))
        },
        Route("GET", "/inApps/v1/refund/lookup/{}", .merchant(.ten)) {
            try .json(try await $0.merchant.refundHistoryV1(of: $0.parts.raw[0]))
        },
        Route("GET", "/inApps/v1/subscriptions/{}", .merchant(.fifty)) {
            try .json(
                try await $0.merchant.statuses(
                    of: $0.parts.raw[0], only: $0.queries("status")))
        },
        Route("PUT", "/inApps/v1/subscriptions/extend/{}", .merchant(.twenty)) {
            try .json(
                try await $0.merchant.extend(
                    $0.parts.raw[0], try await $0.call.bodyBytes(), $0.context))
        },
        Route("POST", "/inApps/v1/subscriptions/extend/mass", .merchant(.one)) {
            try .json(
                try await $0.merchant.extendAll(try await $0.call.bodyBytes(), $0.context))
        },
        Route("GET", "/inApps/v1/subscriptions/extend/mass/{}/{}", .merchant(.fifty)) {
            try .json(
                try await $0.merchant.extensionStatus(
                    $0.parts.raw[1], product: $0.parts.raw[0]))
        },
        Route("POST", "/inApps/v1/notifications/test", .merchant(.one)) {
            try .json(try await $0.merchant.requestTestNotification($0.context))
        },
        Route("GET", "/inApps/v1/notifications/test/{}", .merchant(.one)) {
            try .json(try await $0.merchant.testNotification($0.parts.raw[0]))
        },
        Route("POST", "/inApps/v1/notifications/history", .merchant(.fifty)) {
            try .json(
                try await $0.merchant.notificationHistory(
                    try await $0.call.bodyBytes(), paginationToken: $0.query("paginationToken")))
        },
    ]
}
