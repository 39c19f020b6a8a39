// SPDX-License-Identifier: Apache-2.0

import HTTPShell
import Shop
import StoreWire

/// The operators' door, about the store, its realms and their customers.
extension Routes {
    static let store: [Route] = [
        Route("GET", "/operator/v1/realms", .store(.operator)) {
            try .json(RealmList(realms: try await $0.store.realms()))
        },
        Route("POST", "/operator/v1/realms", .store(.operator)) {
            try .created(try await $0.store.createRealm(try await $0.body(), $0.context))
        },
        Route("DELETE", "/operator/v1/realms/{}", .store(.operator)) {
            try await $0.store.deleteRealm(named: $0.parts[0], $0.context)
            return .done
        },
        Route("POST", "/operator/v1/realms/{}/resets", .store(.operator)) {
            try .json(try await $0.store.resetRealm(named: $0.parts[0], $0.context))
        },
        Route("POST", "/operator/v1/realms/{}/branches", .store(.operator)) {
            try .created(
                try await $0.store.branchRealm(
                    named: $0.parts[0], try await $0.body(), $0.context))
        },
        Route("GET", "/operator/v1/operators", .store(.operator)) {
            try .json(OperatorList(operators: try await $0.store.operators()))
        },
        Route("POST", "/operator/v1/operators", .store(.operator)) {
            try .created(try await $0.store.createOperator(try await $0.body(), $0.context))
        },
        Route("DELETE", "/operator/v1/operators/{}", .store(.operator)) {
            try await $0.store.revokeOperator($0.parts[0], $0.context)
            return .done
        },
        Route("GET", "/operator/v1/store-audit", .store(.operator)) {
            try .json(
                try await $0.store.auditEntries(after: $0.query("after"), limit: try $0.limit()))
        },
    ]

    static let customers: [Route] = [
        Route("GET", "/operator/v1/transactions", .realm(.operator)) {
            try .json(
                try await $0.realm.purchases.listTransactions(
                    bundleID: $0.query("bundleId"), customer: $0.query("customer"),
                    after: $0.query("after"), limit: try $0.limit()))
        },
        Route("GET", "/operator/v1/transactions/{}", .realm(.operator)) {
            try .json(try await $0.realm.purchases.transaction($0.parts[0]))
        },
        Route("GET", "/operator/v1/customers", .realm(.operator)) {
            try .json(
                CustomerList(
                    customers: try await $0.realm.customers.listCustomers(
                        after: $0.query("after"), limit: try $0.limit())))
        },
        Route("POST", "/operator/v1/customers", .realm(.operator)) {
            try .created(
                try await $0.realm.customers.createCustomer(try await $0.body(), $0.context))
        },
        Route("PATCH", "/operator/v1/customers/{}", .realm(.operator)) {
            try .json(
                try await $0.realm.customers.changeCustomer(
                    $0.parts[0], try await $0.body(), $0.context))
        },
        Route("DELETE", "/operator/v1/customers/{}/history", .realm(.operator)) {
            try .json(
                try await $0.realm.customers.clearHistory(ofCustomer: $0.parts[0], $0.context))
        },
        Route("GET", "/operator/v1/sessions", .realm(.operator)) {
            try .json(
                try await $0.realm.customers.listSessions(
                    customer: $0.query("customer"), after: $0.query("after"),
                    limit: try $0.limit()))
        },
        Route("DELETE", "/operator/v1/sessions/{}", .realm(.operator)) {
            try .json(try await $0.realm.customers.endSession($0.parts[0], $0.context))
        },
        Route("DELETE", "/operator/v1/customers/{}/sessions", .realm(.operator)) {
            try .json(try await $0.realm.customers.endSessions(ofCustomer: $0.parts[0], $0.context))
        },
        Route("GET", "/operator/v1/purchases", .realm(.operator)) {
            try .json(
                try await $0.realm.purchases.listPurchases(
                    state: $0.query("state"), after: $0.query("after"), limit: try $0.limit()))
        },
        Route("PUT", "/operator/v1/purchases/{}/approval", .realm(.operator)) {
            try .json(
                try await $0.realm.purchases.answerApproval(
                    $0.parts[0], try await $0.body(), $0.context))
        },
        Route("GET", "/operator/v1/audit", .realm(.operator)) {
            try .json(
                try await $0.realm.auditEntries(after: $0.query("after"), limit: try $0.limit()))
        },
    ]
}
