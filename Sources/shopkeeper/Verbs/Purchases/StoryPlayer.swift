// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import Live
import PurchaseKit
import StorageSQLite
import StoreWire
import Story

/// Plays the steps of a story at the doors of a running store. Purchases are made by
/// a device of each customer, like an app's.
struct StoryPlayer {
    private let store: RunningStore
    private let options: StoreOptions
    private let timeout: TimeLimit
    private let folder: String

    init(_ store: RunningStore, _ options: StoreOptions, timeout: TimeLimit) throws {
        (self.store, self.options, self.timeout) = (store, options, timeout)
        folder =
            FileManager.default.temporaryDirectory
            .appendingPathComponent("shopkeeper-play-\(Live.randomness.hex(8))").path
    }

    /// Returns the first step that did not come true. `report` is called after each
    /// step that did.
    func play(
        _ story: Story, report: (StoryStep) -> Void
    ) async throws -> StoryFailure? {
        try PrivateFiles.makeFolder(folder)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let ear = story.hearsNotifications ? try await StoryEar.open(store, options) : nil
        do {
            let failure = try await play(story.steps, ear, report)
            try await ear?.close()
            return failure
        } catch {
            try? await ear?.close()
            throw error
        }
    }

    private func play(
        _ steps: [StoryStep], _ ear: StoryEar?, _ report: (StoryStep) -> Void
    ) async throws -> StoryFailure? {
        for step in steps {
            if let failure = try await play(step, ear) { return failure }
            report(step)
        }
        return nil
    }

    /// A refusal of the store is a step that did not come true. Any other failure is
    /// thrown.
    private func play(_ step: StoryStep, _ ear: StoryEar?) async throws -> StoryFailure? {
        do {
            switch step.action {
            case .customer(let name, let storefront, let asksToBuy):
                _ = try await store.operatorDoor.post(
                    "/customers",
                    CreateCustomerRequest(
                        name: name, storefront: storefront, asksToBuy: asksToBuy),
                    as: CustomerSummary.self)
            case .buy(let product, let customer, let quantity, let refusal):
                return try await buy(product, customer, quantity, refusal, step.line)
            case .refund(let product, let customer):
                try await refund(product, customer, step.line)
            case .advance(let span, let choice): try await advance(span, choice)
            case .stand(let instant): try await move(MoveClockRequest(standAt: instant))
            case .subscription(let deed, let customer, let product):
                try await perform(deed, on: subscription(of: customer, to: product, step.line))
            case .expect(let expectation):
                for fact in expectation.facts {
                    let failure = try await check(fact, of: expectation.customer, ear)
                    if let failure { return failure }
                }
            }
            return nil
        } catch let failure as Failure where failure.code == .no {
            return StoryFailure(
                line: step.line, expected: step.action.words, found: failure.error.message)
        } catch let missing as StoryFailureError { return missing.failure }
    }

    // MARK: Deeds

    private func buy(
        _ product: String, _ customer: String?, _ quantity: Int, _ refusal: String?, _ line: Int
    ) async throws -> StoryFailure? {
        let payment = SKMutablePayment()
        payment.productIdentifier = product
        payment.quantity = quantity
        let (device, files) = try BuyingDevice.make(
            store, customer: customer,
            folder: folder + "/" + (customer.map { DoorClient.part($0) } ?? "customer"))
        let buyer = Buyer(device: device, files: files, finishes: true)
        do {
            _ = try await buyer.buy(payment, timeout: timeout)
            await BuyingDevice.close(device)
        } catch let failure as Failure where failure.code == .no && refusal != nil {
            await BuyingDevice.close(device)
            if failure.error.code == refusal { return nil }
            return StoryFailure(
                line: line, expected: "refused with \(refusal ?? "")",
                found: "refused with \(failure.error.code)")
        } catch {
            await BuyingDevice.close(device)
            throw error
        }
        guard let refusal else { return nil }
        return StoryFailure(line: line, expected: "refused with \(refusal)", found: "sold")
    }

    private func refund(_ product: String, _ customer: String?, _ line: Int) async throws {
        let all = try await transactions(of: customer)
        let last = all.last { $0.payload.productId == product }?.payload.transactionId
        guard let last else {
            throw StoryFailureError(
                failure: StoryFailure(
                    line: line, expected: "a transaction of \(product)", found: "none"))
        }
        _ = try await store.operatorDoor.put(
            "/transactions/\(last)/refund", DecideRefundRequest(state: "granted"),
            as: RefundAnswer.self)
    }

    private func advance(_ span: TimeStep, _ choice: JumpNotifications) async throws {
        var request = MoveClockRequest(notifications: choice.rawValue)
        switch span {
        case .period(let period): request.advancePeriod = period.description
        case .seconds(let seconds): request.advanceMilliseconds = seconds * 1000
        }
        try await move(request)
    }

    private func move(_ request: MoveClockRequest) async throws {
        var door = store.controlDoor
        door.timeoutMilliseconds = ClockOptions.jumpMilliseconds
        _ = try await door.post("/clock", request, as: ClockDescription.self)
    }

    private func perform(
        _ deed: SubscriptionDeed, on subscription: SubscriptionRecord
    ) async throws {
        let path = "/subscriptions/\(subscription.subscriptionId)"
        let (operators, control) = (store.operatorDoor, store.controlDoor)
        let type = SubscriptionAnswer.self
        switch deed {
        case .cancel, .resume:
            _ = try await operators.put(
                path + "/renewal", SwitchRenewalRequest(isRenewing: deed == .resume), as: type)
        case .renew, .expire:
            let place = deed == .renew ? "/renewals" : "/expirations"
            _ = try await control.post(path + place, [String: String](), as: type)
        case .failBilling, .fixBilling:
            _ = try await control.put(
                path + "/billing", FailBillingRequest(failsBilling: deed == .failBilling),
                as: type)
        case .consent:
            _ = try await control.put(path + "/consent", ConsentRequest(isAgreed: true), as: type)
        }
    }

    // MARK: What there is

    private func customer(_ name: String?) async throws -> String {
        try await CustomerCommand.find(name ?? "customer", store.operatorDoor).customerId
    }

    private func subscriptions(of name: String?) async throws -> [SubscriptionRecord] {
        let customer = try await customer(name)
        return try await store.operatorDoor.get(
            "/subscriptions?customer=\(customer)", as: SubscriptionRecords.self
        ).subscriptions
    }

    /// The customer's subscription to a product, or the only one.
    private func subscription(
        of name: String?, to product: String?, _ line: Int
    ) async throws -> SubscriptionRecord {
        let all = try await subscriptions(of: name)
        let found = all.filter { product == nil || $0.productId == product }
        if let first = found.first, found.count == 1 { return first }
        throw StoryFailureError(
            failure: StoryFailure(
                line: line, expected: "a subscription" + (product.map { " to \($0)" } ?? ""),
                found: all.isEmpty
                    ? "none" : "those to " + all.map(\.productId).joined(separator: ", ")))
    }

    private func transactions(of name: String?) async throws -> [TransactionRecord] {
        let customer = try await customer(name)
        var (found, after): ([TransactionRecord], String?) = ([], nil)
        repeat {
            let page = try await store.operatorDoor.get(
                "/transactions?customer=\(customer)" + (after.map { "&after=\($0)" } ?? ""),
                as: TransactionRecords.self)
            found += page.transactions
            after = page.next
        } while after != nil
        return found
    }

    // MARK: Expectations

    private func check(
        _ fact: ExpectedFact, of customer: String?, _ ear: StoryEar?
    ) async throws -> StoryFailure? {
        let (expected, found) = try await compare(fact, of: customer, ear)
        if expected == found { return nil }
        return StoryFailure(line: fact.line, expected: expected, found: found)
    }

    /// What was expected and what there is, in words that are equal if both are.
    private func compare(
        _ fact: ExpectedFact, of customer: String?, _ ear: StoryEar?
    ) async throws -> (expected: String, found: String) {
        switch fact.fact {
        case .subscription(let expected):
            let found = try await subscription(of: customer, to: nil, expected, fact.line)
            return (expected.words(like: expected), found.asExpected.words(like: expected))
        case .transactions(let products):
            let found = try await transactions(of: customer).map { $0.payload.productId ?? "?" }
            return (Self.list(products), Self.list(found))
        case .transactionCount(let count):
            return (
                "\(count) transactions",
                "\(try await transactions(of: customer).count) transactions"
            )
        case .notifications(let types):
            let heard = await ear?.next(atLeast: types.count, timeout: timeout) ?? []
            return (Self.list(types), Self.list(heard))
        case .mayUse(let product, let expected):
            let found = try await mayUse(product, customer)
            return (Self.use(product, expected), Self.use(product, found))
        case .clock(let instant):
            let clock = try await store.controlDoor.get("/clock", as: ClockDescription.self)
            return ("\(instant)", "\(clock.now)")
        }
    }

    /// The one that is expected, if the customer has several.
    private func subscription(
        of customer: String?, to product: String?, _ expected: ExpectedSubscription, _ line: Int
    ) async throws -> SubscriptionRecord {
        let isOne = try await subscriptions(of: customer).count == 1
        return try await subscription(of: customer, to: isOne ? nil : expected.product, line)
    }

    private func mayUse(_ product: String, _ customer: String?) async throws -> Bool {
        let now = try await store.controlDoor.get("/clock", as: ClockDescription.self).now
        let isSubscribed = try await subscriptions(of: customer).contains {
            $0.productId == product && ($0.usableUntil.map { $0 > now } ?? false)
        }
        if isSubscribed { return true }
        return try await transactions(of: customer).contains {
            $0.payload.productId == product && $0.payload.revocationDate == nil
                && $0.payload.type != "Auto-Renewable Subscription"
                && $0.payload.type != "Consumable"
        }
    }

    private static func list(_ items: [String]) -> String {
        items.isEmpty ? "none" : items.joined(separator: ", ")
    }

    private static func use(_ product: String, _ mayUse: Bool) -> String {
        "\(product) \(mayUse ? "may" : "may not") be used"
    }
}

/// A step that cannot be done.
private struct StoryFailureError: Error { let failure: StoryFailure }

extension SubscriptionRecord {
    fileprivate var asExpected: ExpectedSubscription {
        var found = ExpectedSubscription()
        (found.product, found.status, found.renews) = (productId, status, isRenewing)
        found.next = nextProductId ?? nextCharge?.productId
        found.charge = Amount(milliunits: nextCharge?.price ?? 0)
        found.until = usableUntil
        return found
    }
}

extension ExpectedSubscription {
    /// The fields that `other` has.
    fileprivate func words(like other: ExpectedSubscription) -> String {
        [
            other.product.map { _ in "product \(product ?? "none")" },
            other.status.map { _ in "status \(status ?? "none")" },
            other.renews.map { _ in "renews \(renews ?? false)" },
            other.next.map { _ in "next \(next ?? "none")" },
            other.charge.map { _ in "charge \(charge?.milliunits ?? 0) milliunits" },
            other.until.map { _ in "until \(until.map { "\($0)" } ?? "not usable")" },
        ].compactMap { $0 }.joined(separator: ", ")
    }
}
