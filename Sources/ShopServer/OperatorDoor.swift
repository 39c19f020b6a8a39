// SPDX-License-Identifier: Apache-2.0

import HTTPShell
import Hummingbird
import Shop
import StoreWire

/// The door for operators: realms, customers, transactions and server keys.
struct OperatorDoor: Sendable {
    let store: Store
    let call: Call

    /// Routes that concern the whole store.
    func realms() async throws -> Response {
        try .json(RealmList(realms: try await store.realms()))
    }

    func createRealm() async throws -> Response {
        let request = try await call.body(CreateRealmRequest.self)
        return try .json(try await store.createRealm(request, call.context), status: 201)
    }

    func deleteRealm(_ name: String) async throws -> Response {
        try await store.deleteRealm(named: name, call.context)
        return .empty(status: 204)
    }

    func resetRealm(_ name: String) async throws -> Response {
        try .json(try await store.resetRealm(named: name, call.context))
    }

    func operators() async throws -> Response {
        try .json(OperatorList(operators: try await store.operators()))
    }

    func createOperator() async throws -> Response {
        let request = try await call.body(CreateOperatorRequest.self)
        return try .json(try await store.createOperator(request, call.context), status: 201)
    }

    func revokeOperator(_ name: String) async throws -> Response {
        try await store.revokeOperator(name, call.context)
        return .empty(status: 204)
    }

    func storeAudit() async throws -> Response {
        try .json(
            try await store.auditEntries(after: call.query("after"), limit: try call.limit()))
    }

    /// Routes that concern one realm.
    func transactions(_ realm: Realm) async throws -> Response {
        let records = try await realm.listTransactions(
            bundleID: call.query("bundleId"), customer: call.query("customer"),
            after: call.query("after"), limit: try call.limit())
        return try .json(records)
    }

    func customers(_ realm: Realm) async throws -> Response {
        let customers = try await realm.listCustomers(
            after: call.query("after"), limit: try call.limit())
        return try .json(CustomerList(customers: customers))
    }

    func createCustomer(_ realm: Realm) async throws -> Response {
        let request = try await call.body(CreateCustomerRequest.self)
        return try .json(try await realm.createCustomer(request, call.context), status: 201)
    }

    func changeCustomer(_ id: String, _ realm: Realm) async throws -> Response {
        let request = try await call.body(ChangeCustomerRequest.self)
        return try .json(try await realm.changeCustomer(id, request, call.context))
    }

    func clearHistory(_ id: String, _ realm: Realm) async throws -> Response {
        try .json(try await realm.clearHistory(ofCustomer: id, call.context))
    }

    func sessions(_ realm: Realm) async throws -> Response {
        try .json(
            try await realm.listSessions(
                customer: call.query("customer"), after: call.query("after"),
                limit: try call.limit()))
    }

    func endSession(_ id: String, _ realm: Realm) async throws -> Response {
        try .json(try await realm.endSession(id, call.context))
    }

    func endSessions(ofCustomer id: String, _ realm: Realm) async throws -> Response {
        try .json(try await realm.endSessions(ofCustomer: id, call.context))
    }

    func purchases(_ realm: Realm) async throws -> Response {
        try .json(
            try await realm.listPurchases(
                state: call.query("state"), after: call.query("after"), limit: try call.limit()))
    }

    func answerApproval(_ purchaseID: String, _ realm: Realm) async throws -> Response {
        let request = try await call.body(AnswerApprovalRequest.self)
        return try .json(try await realm.answerApproval(purchaseID, request, call.context))
    }

    func serverKeys(_ realm: Realm) async throws -> Response {
        try .json(ServerKeyList(serverKeys: try await realm.serverKeys()))
    }

    func createServerKey(_ realm: Realm) async throws -> Response {
        let request = try await call.body(CreateServerKeyRequest.self)
        return try .json(
            try await realm.createServerKey(bundleID: request.bundleId, call.context), status: 201)
    }

    func apps(_ realm: Realm) async throws -> Response {
        try .json(AppList(apps: try await realm.appSummaries()))
    }

    func setNotificationURL(_ bundleID: String, _ realm: Realm) async throws -> Response {
        let request = try await call.body(SetNotificationURLRequest.self)
        return try .json(
            try await realm.setNotificationURL(
                request.notificationUrl, bundleID: bundleID, call.context))
    }

    func sendNotification(_ realm: Realm) async throws -> Response {
        let request = try await call.body(SendNotificationRequest.self)
        return try .json(try await realm.sendNotification(request, call.context), status: 202)
    }

    func notificationStatus(_ token: String, _ realm: Realm) async throws -> Response {
        try .json(
            try await realm.notificationStatus(token, bundleID: call.query("bundleId") ?? ""))
    }
}

extension Call {
    /// The most entries in an answer.
    func limit() throws -> Int {
        guard let text = query("limit") else { return Realm.operatorPageMax }
        guard let limit = Int(text), (1...Realm.operatorPageMax).contains(limit) else {
            throw RequestMistake.queryInvalid(
                field: "limit", rule: "1 to \(Realm.operatorPageMax)",
                remedy: "leave it out for the maximum")
        }
        return limit
    }
}
