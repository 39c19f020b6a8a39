// SPDX-License-Identifier: Apache-2.0

import HTTPShell
import Shop
import StoreWire

/// The operators' door, about subscriptions.
extension Routes {
    static let subscriptions: [Route] = [
        Route("GET", "/operator/v1/subscriptions", .realm(.operator)) {
            try .json(
                try await $0.realm.subscriptions.list(
                    bundleID: $0.query("bundleId"), customer: $0.query("customer"),
                    status: $0.query("status"), after: $0.query("after"),
                    limit: try $0.limit()))
        },
        Route("GET", "/operator/v1/subscriptions/{}", .realm(.operator)) {
            try .json(try await $0.realm.subscriptions.show($0.parts[0]))
        },
        Route("PUT", "/operator/v1/subscriptions/{}/renewal", .realm(.operator)) {
            let request: SwitchRenewalRequest = try await $0.body()
            return try .json(
                try await $0.realm.subscriptions.switchRenewal(
                    of: $0.parts[0], on: request.isRenewing, $0.context))
        },
        Route("POST", "/operator/v1/subscriptions/{}/extensions", .realm(.operator)) {
            let request: ExtendSubscriptionRequest = try await $0.body()
            return try .json(
                try await $0.realm.subscriptions.extend(
                    $0.parts[0], days: request.days, $0.context))
        },
        Route("PUT", "/operator/v1/subscriptions/{}/price", .realm(.operator)) {
            try .json(
                try await $0.realm.subscriptions.raisePrice(
                    of: $0.parts[0], try await $0.body(), $0.context))
        },
        Route("PUT", "/operator/v1/subscriptions/{}/product", .realm(.operator)) {
            let request: ChooseProductRequest = try await $0.body()
            return try .json(
                try await $0.realm.subscriptions.choose(
                    request.productId, for: $0.parts[0], $0.context))
        },
        Route("POST", "/operator/v1/apps/{}/bulk-changes", .realm(.operator)) {
            try .json(
                try await $0.realm.subscriptions.changeAll(
                    try await $0.body(), bundleID: $0.parts[0], $0.context))
        },
        Route("GET", "/operator/v1/apps/{}/bulk-changes", .realm(.operator)) {
            try .json(
                try await $0.realm.subscriptions.bulkChanges(
                    ofApp: $0.parts[0], after: $0.query("after"), limit: try $0.limit()))
        },
        Route("GET", "/operator/v1/apps/{}/bulk-changes/{}", .realm(.operator)) {
            try .json(
                try await $0.realm.subscriptions.bulkChange(
                    $0.parts[1], bundleID: $0.parts[0]))
        },
        Route("GET", "/operator/v1/customers/{}/history", .realm(.operator)) {
            try .json(
                try await $0.realm.subscriptions.history(
                    of: $0.parts[0], after: $0.query("after"), limit: try $0.limit()))
        },
    ]

    /// What can be forced only in a sandbox.
    static let forcedSubscriptions: [Route] = [
        Route("POST", "/control/v1/subscriptions/{}/renewals", .realm(.control)) {
            try .json(try await $0.realm.subscriptions.renew($0.parts[0], $0.context))
        },
        Route("POST", "/control/v1/subscriptions/{}/expirations", .realm(.control)) {
            try .json(try await $0.realm.subscriptions.expire($0.parts[0], $0.context))
        },
        Route("PUT", "/control/v1/subscriptions/{}/billing", .realm(.control)) {
            let request: FailBillingRequest = try await $0.body()
            return try .json(
                try await $0.realm.subscriptions.failBilling(
                    of: $0.parts[0], request.failsBilling, $0.context))
        },
        Route("PUT", "/control/v1/subscriptions/{}/consent", .realm(.control)) {
            let request: ConsentRequest = try await $0.body()
            return try .json(
                try await $0.realm.subscriptions.answerIncrease(
                    of: $0.parts[0], isAgreed: request.isAgreed, $0.context))
        },
    ]
}
