// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
public import StoreWire

/// What a customer sees and changes on the store's pages. Another customer's things are
/// answered like unknown ones.
extension VisitorRoom {
    /// Returns the subscription, which is the visitor's. Refusal: `subscriptionNotFound`.
    private func own(_ id: String, _ visitor: Visitor) async throws -> SubscriptionRow {
        let row = try await realm.subscriptions.row(id)
        guard row.customer == visitor.id else { throw SubscriptionRoom.subscriptionNotFound }
        return row
    }

    /// Returns the product of the next period, also while the renewal is off. Refusal:
    /// `subscriptionNotFound`.
    public func nextProduct(of id: String, _ visitor: Visitor) async throws -> String {
        try await own(id, visitor).subscription.renewal.productID.value
    }

    /// Switches the renewal off. Refusals, in order: `subscriptionNotFound`,
    /// `subscriptionEnded`.
    public func cancelRenewal(
        of id: String, _ visitor: Visitor, _ context: RequestContext
    ) async throws {
        _ = try await own(id, visitor)
        try await realm.subscriptions.change(id, nil, context) { change in
            try change.subscription.switching(on: false, at: change.now, cause: .customer)
        }
    }

    /// Switches the renewal on. `next`: the product of the next period that the visitor
    /// was shown. Refusals, in order: `subscriptionNotFound`, `renewalChanged`,
    /// `subscriptionEnded`.
    public func resumeRenewal(
        of id: String, as next: String, _ visitor: Visitor, _ context: RequestContext
    ) async throws {
        _ = try await own(id, visitor)
        try await realm.subscriptions.change(id, nil, context) { change in
            guard change.subscription.renewal.productID.value == next else {
                throw Self.renewalChanged
            }
            return try change.subscription.switching(on: true, at: change.now, cause: .customer)
        }
    }

    /// Chooses the product of the next period, without a charge. `next`: the product that
    /// the visitor was shown as the one of the next period, with the renewal on. So what
    /// another browser has cancelled since is not resumed. Refusals, in order:
    /// `subscriptionNotFound`, `textInvalid`, `textTooLong`, `renewalChanged`, and those of
    /// ``SubscriptionRoom/choose(_:for:_:)``.
    public func choose(
        _ product: String, insteadOf next: String, for id: String, _ visitor: Visitor,
        _ context: RequestContext
    ) async throws {
        _ = try await own(id, visitor)
        try Edge.text(product, "productId")
        try await realm.subscriptions.choose(product, for: id, cause: .customer, context) {
            // One that has ended is refused as such.
            guard $0.status != .active || ($0.renewal.isOn && $0.renewal.productID.value == next)
            else { throw Self.renewalChanged }
        }
    }

    private static let renewalChanged = Refusal(
        .conflict, code: "renewalChanged",
        "Your renewal was changed in the meantime; look at it again.", field: "next",
        rule: "the renewal as your account shows it now", remedy: "open your account again")

    /// Asks for the money of a transaction. Refusals, in order: `refundReasonUnknown`,
    /// `transactionNotFound`, `refundOfShared`, `refundedAlready`.
    public func requestRefund(
        _ id: String, _ request: RefundRequest, _ visitor: Visitor, _ context: RequestContext
    ) async throws {
        _ = try await realm.refunds.request(id, request, of: visitor.id, context)
    }

    /// Whether apps may ask the visitor for reviews.
    public func isAskedForReviews(_ visitor: Visitor) async throws -> Bool {
        try await realm.reviews.isAllowed(of: visitor.id)
    }

    /// Switches apps' requests for reviews on or off.
    public func switchReviewRequests(on isOn: Bool, _ visitor: Visitor) async throws {
        try await realm.reviews.allow(isOn, of: visitor.id)
    }

    /// Returns the payments of children in the visitor's family that wait for approval,
    /// with the children's names. Empty for one who organises no family.
    public func approvals(_ visitor: Visitor) async throws -> [WaitingChild] {
        var waiting: [WaitingChild] = []
        for child in try await children(of: visitor) {
            let key: [SQLValue] = [.integer(child.value), .integer(Int64(Self.waitingMax))]
            let found = try await realm.read(of: child) { reading in
                (
                    name: try reading.first(
                        Statement.Customers.byID, [.integer(child.value)])?.text("name") ?? "",
                    rows: try reading.query(Statement.Purchases.waitingOf, key).compactMap {
                        try PurchaseRow($0, key: try PurchaseKey($0))
                    }
                )
            }
            waiting += found.rows.map { WaitingChild(name: found.name, purchase: $0.record) }
        }
        return waiting
    }

    /// Answers a child's payment. The first answer counts. Refusals, in order:
    /// `purchaseNotFound`, also for a child of another family, and those of
    /// ``PurchaseRoom/answerApproval(_:_:_:)``.
    public func answer(
        _ purchaseID: String, of child: String, _ answer: String, _ visitor: Visitor,
        _ context: RequestContext
    ) async throws {
        guard let number = Edge.number(child),
            try await children(of: visitor).contains(CustomerID(number))
        else { throw PurchaseRoom.purchaseNotFound }
        _ = try await realm.purchases.answerApproval(
            purchaseID, AnswerApprovalRequest(answer: answer, customerId: child),
            RequestContext(
                requestID: context.requestID, actor: "customer \(visitor.id)",
                client: context.client))
    }

    /// The most payments of one child that are shown.
    private static let waitingMax = 50

    /// The other people of the family that the visitor organises.
    private func children(of visitor: Visitor) async throws -> [CustomerID] {
        try await realm.readHouse { reading in
            guard try FamilyPersonRow.find(visitor.id, reading).person.organiser == visitor.id
            else { return [] }
            return try FamilyPersonRow.all(of: visitor.id, reading).map(\.person.customer)
                .filter { $0 != visitor.id }
        }
    }
}

/// A payment that waits for a parent's answer.
public struct WaitingChild: Sendable {
    /// The child's name.
    public let name: String
    public let purchase: PurchaseRecord
}
