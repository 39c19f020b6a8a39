// SPDX-License-Identifier: Apache-2.0

import HTTPShell
import Shop
import StoreWire

/// Refunds: the operators' door, and what a test asks for a customer.
extension Routes {
    static let refunds: [Route] = [
        Route("GET", "/operator/v1/refunds", .realm(.operator)) {
            try .json(
                try await $0.realm.refunds.list(
                    state: $0.query("state"), customer: $0.query("customer"),
                    after: $0.query("after"), limit: try $0.limit()))
        },
        Route("PUT", "/operator/v1/transactions/{}/refund", .realm(.operator)) {
            try .json(
                try await $0.realm.refunds.decide($0.parts[0], try await $0.body(), $0.context))
        },
    ]

    /// What can be forced only in a sandbox.
    static let forcedRefunds: [Route] = [
        Route("POST", "/control/v1/transactions/{}/refund-requests", .realm(.control)) {
            try .json(
                try await $0.realm.refunds.request($0.parts[0], try await $0.body(), $0.context))
        }
    ]
}
