// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import StoreWire

/// What to do next with a running payment.
enum CarryStep {
    /// Continue at once.
    case again
    /// Ask again later.
    case later
    case done
}

/// The store's codes for a purchase request with unacceptable contents. The
/// store then records nothing under the purchase id.
enum ContentsRefusal: String {
    case fieldMissing, fieldInvalid, uuidInvalid, textInvalid, textTooLong, priceInvalid
    case currencyInvalid, replacedNotRefused, offerKindUnknown, offerFieldMissing
    case billingPlanUnknown
}

/// What this process knows about a payment in addition to its entry.
struct Carriage {
    /// Whether the payment may have reached the store under its present id.
    /// From then on it is asked for again, and does not fail for lack of an
    /// answer.
    var mayHaveBeenSent: Bool
    /// The product that the store returned when it refused the price.
    var repriced: ProductDescription?
}

extension Device {
    /// A payment of a choice has the choice's id, and is there once.
    func enqueue(_ payment: PaymentContents, key: String) {
        let isChoice = payment.intentID != nil
        if isChoice, let known = entry(key), known.launch == launch { return deliver([key]) }
        var payment = payment
        payment.intentID = nil
        let entry = QueueEntry(
            key: key, purchaseID: key, launch: launch, payment: payment, state: .asked)
        do throws(DeviceFault) {
            if isChoice { try join(entry) } else { try change(.added(entry)) }
            wake()
        } catch {
            // The app hears of every payment that it adds before it hears of its failure.
            if isHeard, !isClosed { report(.updated([entry])) }
            failUnwritten(entry, error.paymentFailure)
        }
    }

    /// Carries a payment from the payment sheet to its outcome.
    func carry(_ key: String, isResumed: Bool) {
        guard isHeard, carriers[key] == nil, !isClosed else { return }
        carriers[key] = Task {
            var carriage = Carriage(mayHaveBeenSent: isResumed)
            var failures = 0
            while !Task.isCancelled, let entry = self.entry(key), entry.isUnderWay {
                let wakes = self.wakeCount
                switch await self.step(entry, &carriage) {
                case .again:
                    failures = 0
                case .later:
                    await self.nap(failures, since: wakes)
                    failures += 1
                case .done:
                    return self.putDown(key)
                }
            }
            self.putDown(key)
        }
    }

    /// Forgets what was kept to carry a payment.
    private func putDown(_ key: String) {
        carriers[key] = nil
        failures[key] = nil
        confirmedCountries[key] = nil
    }

    private func step(_ entry: QueueEntry, _ carriage: inout Carriage) async -> CarryStep {
        // Already decided, but not recorded yet.
        if let failure = failures[entry.key] { return fail(entry, failure) }
        return switch entry.state {
        case .asked: await confirm(entry)
        case .confirmed, .waiting:
            if let product = carriage.repriced {
                await confirmAgain(entry, product, &carriage)
            } else {
                await ask(entry, &carriage)
            }
        case .failed, .purchased, .finished, .restored: .done
        }
    }

    // MARK: Before the payment leaves

    private func confirm(_ entry: QueueEntry) async -> CarryStep {
        guard !configuration.isRestricted else { return await refuseRestricted(entry) }
        guard entry.payment.requestData == nil else {
            return fail(
                entry, PaymentFailure(.requestDataReserved, "requestData is reserved."))
        }
        do throws(DeviceFault) {
            let session = try await signInToBuy()
            guard session.mayBuy else { return await refuseRestricted(entry) }
            guard entry.payment.quantity <= SheetContents.quantityMax else {
                return fail(entry, Self.tooMany)
            }
            guard let product = try await sold(entry.payment) else {
                return fail(entry, Self.unknown(entry.payment.productID))
            }
            // For the sheet only: what fails here is sent again before the payment.
            try? await sendFinishes(of: product.id, in: session)
            confirmedCountries[entry.key] = storefront?.countryCode
            let earlier = earlier(product, session.owner)
            guard let contents = sheetContents(entry, product, earlier: earlier) else {
                return fail(entry, PaymentFailure(.unknown, "The product's price is unreadable."))
            }
            guard await present(contents) == .confirm else { return cancel(entry) }
            // Without a charge nothing is the price that was confirmed. The store
            // refuses it if there is nothing to deliver again by now.
            let shown = ShownPrice(
                unitPrice: contents.isCharged ? product.priceNow : 0, currency: product.currency)
            try change(.confirmed(key: entry.key, session.owner, shown))
            return .again
        } catch {
            return fail(entry, error.paymentFailure)
        }
    }

    /// Returns the product as the payment would buy it. With an offer, this is the
    /// store's quote.
    private func sold(
        _ payment: PaymentContents
    ) async throws(DeviceFault) -> ProductDescription? {
        guard payment.offer != nil || payment.billingPlan != nil else {
            return try await product(payment.productID)
        }
        let question = OfferQuoteRequest(
            productId: payment.productID, offer: payment.offer,
            applicationUsername: payment.applicationUsername, billingPlan: payment.billingPlan)
        return try await quote(question)
    }

    /// Returns the product as a payment with an offer would buy it.
    func quote(
        _ question: OfferQuoteRequest
    ) async throws(DeviceFault) -> ProductDescription {
        let reply = try await call(
            .offer, in: try await signIn(), body: encode(question), onAnswer: {})
        guard reply.status == 200 else { throw refusal(reply) }
        return try decode(reply)
    }

    /// More than any store sells at once.
    private static let tooMany = PaymentFailure(
        refusal: WireError(
            code: PurchaseRefusal.quantityOutOfRange.rawValue,
            message: "So many are not sold at once.", field: "quantity", rule: "1 to 10"))

    private static func unknown(_ product: String) -> PaymentFailure {
        PaymentFailure(
            refusal: WireError(
                code: PurchaseRefusal.unknownProduct.rawValue,
                message: "The store has no product \"\(product)\".",
                field: "productId", rule: "a product that the store lists for this app"))
    }

    /// Shows the new price. The refused payment stays in the file until the
    /// customer confirms again. If the process ends before that, the payment is
    /// sent again and refused again.
    private func confirmAgain(
        _ entry: QueueEntry, _ product: ProductDescription, _ carriage: inout Carriage
    ) async -> CarryStep {
        confirmedCountries[entry.key] = storefront?.countryCode
        guard let contents = sheetContents(entry, product, isPriceChanged: true) else {
            return fail(entry, PaymentFailure(.unknown, "The product's price is unreadable."))
        }
        guard await present(contents) == .confirm else { return cancel(entry) }
        let shown = ShownPrice(unitPrice: product.priceNow, currency: product.currency)
        do throws(DeviceFault) {
            try change(
                .repriced(
                    key: entry.key, refused: entry.purchaseID,
                    purchaseID: ports.randomness.uuid(), shown))
            carriage = Carriage(mayHaveBeenSent: false)
            return .again
        } catch {
            return fail(entry, error.paymentFailure)
        }
    }

    /// Shows the payment sheet. A sandbox may disable it; a realm that charges
    /// may not.
    private func present(_ contents: SheetContents) async -> SheetAnswer {
        if storeDisablesDialogs, let session, session.environment != .production { return .confirm }
        await sheetGate.enter()
        let answer = await ports.sheet.present(contents)
        await sheetGate.leave()
        return answer
    }

    private func sheetContents(
        _ entry: QueueEntry, _ product: ProductDescription, isPriceChanged: Bool = false,
        earlier: EarlierPurchase? = nil
    ) -> SheetContents? {
        guard let currency = Currency(code: product.currency),
            (0...Amount.milliunitsMax).contains(product.price),
            (0...Amount.milliunitsMax).contains(product.priceNow),
            (1...SheetContents.quantityMax).contains(entry.payment.quantity)
        else { return nil }
        return SheetContents(
            productID: product.id, title: product.displayName, details: product.description,
            quantity: entry.payment.quantity,
            unitPrice: Money(Amount(milliunits: product.priceNow), currency),
            priceLocale: product.priceLocale, isPriceChanged: isPriceChanged,
            subscription: SheetSubscription(product, currency),
            isOwned: product.isOwned == true, earlier: earlier)
    }

    private func refuseRestricted(_ entry: QueueEntry) async -> CarryStep {
        let sentence = "Payments are not allowed on this device."
        await ports.sheet.notify(sentence)
        return fail(entry, PaymentFailure(.notAllowed, sentence))
    }

    private func cancel(_ entry: QueueEntry) -> CarryStep {
        fail(entry, PaymentFailure(.cancelled, "The payment was cancelled."))
    }

    // MARK: Asking the store

    private func ask(_ entry: QueueEntry, _ carriage: inout Carriage) async -> CarryStep {
        do throws(DeviceFault) {
            let session = try await signIn()
            guard session.owner == entry.owner else {
                sayOnce("A payment waits for the customer who confirmed it.")
                return .done
            }
            let wasSentBefore = carriage.mayHaveBeenSent
            if !wasSentBefore, let step = await finishFirst(entry, in: session) { return step }
            let reply = try await sendPayment(entry, in: session) {
                carriage.mayHaveBeenSent = true
            }
            guard reply.status == 200 else {
                return refuse(reply, entry, wasSentBefore: wasSentBefore)
            }
            return try await take(decode(reply), of: entry, &carriage)
        } catch {
            return handle(error, of: entry, &carriage)
        }
    }

    /// Sends the finishes that must come before a payment. Returns what follows if one
    /// could not be sent: the payment was not sent either, and waits for it.
    private func finishFirst(_ entry: QueueEntry, in session: Session) async -> CarryStep? {
        do throws(DeviceFault) {
            try await sendFinishes(of: entry.payment.productID, in: session)
            return nil
        } catch .overtaken {
            return .again
        } catch .setUp(let words) {
            return fail(entry, DeviceFault.setUp(words).paymentFailure)
        } catch {
            sayOnce("A payment waits for an earlier finish: \(error.sentence)")
            return .later
        }
    }

    /// Sends the payment. `onAnswer` is called with the first answer of any
    /// kind. From then on the payment may have reached the store.
    private func sendPayment(
        _ entry: QueueEntry, in session: Session, onAnswer: () -> Void
    ) async throws(DeviceFault) -> DeviceReply {
        guard let shown = entry.shown, let id = entry.purchaseID else {
            throw .setUp("a confirmed payment lacks its price")
        }
        let request = PurchaseRequest(
            productId: entry.payment.productID, quantity: entry.payment.quantity,
            unitPrice: shown.unitPrice, currency: shown.currency,
            applicationUsername: entry.payment.applicationUsername, replaces: entry.replaces,
            simulatesAskToBuyInSandbox: entry.payment.simulatesAskToBuyInSandbox,
            offer: entry.payment.offer, billingPlan: entry.payment.billingPlan)
        return try await call(
            .purchase(id: id), in: session, body: encode(request), onAnswer: onAnswer)
    }

    /// Interprets an unsuccessful answer. Only the store's verdict on this
    /// purchase id decides the payment. After any other answer the outcome is
    /// open: a proxy may have sent the payment twice, or an earlier attempt may
    /// have been sold. The status decides nothing. A payment that was never
    /// sent before also fails if the store rejects the contents of the request.
    /// They are the same at each attempt and are checked before anything is
    /// recorded.
    private func refuse(
        _ reply: DeviceReply, _ entry: QueueEntry, wasSentBefore: Bool
    ) -> CarryStep {
        let fault = refusal(reply)
        if !wasSentBefore, case .refused(_, let error) = fault,
            ContentsRefusal(rawValue: error.code) != nil
        {
            return fail(entry, fault.paymentFailure)
        }
        sayOnce("A payment's outcome is still open: \(fault.sentence)")
        return .later
    }

    private func handle(
        _ fault: DeviceFault, of entry: QueueEntry, _ carriage: inout Carriage
    ) -> CarryStep {
        switch fault {
        case .overtaken:
            return .again
        case .notSent where !carriage.mayHaveBeenSent, .setUp where !carriage.mayHaveBeenSent:
            return fail(entry, fault.paymentFailure)
        case .notSent:
            return .later
        case .unknown:
            carriage.mayHaveBeenSent = true
            return .later
        case .setUp, .refused, .unverified, .disk:
            sayOnce("A payment's outcome is still open: \(fault.sentence)")
            carriage.mayHaveBeenSent = true
            return .later
        }
    }

    private func take(
        _ response: PurchaseResponse, of entry: QueueEntry, _ carriage: inout Carriage
    ) async throws(DeviceFault) -> CarryStep {
        switch response.state {
        case "sold":
            guard let compact = response.signedTransaction else { throw .unknown(nil) }
            if response.isRepeat == true { return try await sellBefore(entry, compact, response) }
            try await sell(entry, compact, response)
            return .done
        case "refused":
            guard let refusal = response.refusal else { throw .unknown(nil) }
            if refusal.code == PurchaseRefusal.priceChanged.rawValue,
                let product = response.product
            {
                guard await goesOn(entry) else {
                    let sentence = "The app ended the payment: the storefront has changed."
                    return fail(entry, PaymentFailure(.productUnavailable, sentence))
                }
                if entry.payment.offer == nil, entry.payment.billingPlan == nil {
                    productCache[product.id] = product
                }
                carriage.repriced = product
                return .again
            }
            if refusal.code == PurchaseRefusal.purchasesNotAllowed.rawValue { noteRestriction() }
            return fail(entry, PaymentFailure(refusal: refusal))
        case "waiting" where response.waitingFor == WaitingReason.attention.rawValue:
            // The payment fails. If the customer completes it later, the sale
            // arrives as a separate transaction.
            return fail(
                entry,
                PaymentFailure(
                    .unknown,
                    "The purchase was interrupted: something outside of the app needs "
                        + "the customer's attention first."))
        case "waiting":
            // Reported once. The store will announce when there is an answer.
            if self.entry(entry.key)?.state == .confirmed { try change(.deferred(key: entry.key)) }
            return .later
        default:
            return .later
        }
    }

    /// Verifies the transaction, stores its receipt, and then reports it.
    private func sell(
        _ entry: QueueEntry, _ compact: String, _ response: PurchaseResponse
    ) async throws(DeviceFault) {
        var transaction = try await verify(compact)
        transaction.sold.revision = response.revision
        transaction.sold.content = response.content
        // A subscription that changes at its next renewal is answered with the
        // transaction of its present period, which may be another product's.
        guard transaction.productID == entry.payment.productID || transaction.isSubscription,
            transaction.quantity == entry.payment.quantity
        else {
            sayOnce("The store answered a payment with a transaction for something else.")
            throw .unknown(nil)
        }
        let sold = transaction.sold
        try await withReceipt(of: entry.owner) { (receipt, files, fits) throws(DeviceFault) in
            try self.change(.sold(key: entry.key, sold, receipt), with: files, onlyIf: fits)
        }
    }

    // MARK: Failing

    func fail(_ entry: QueueEntry, _ failure: PaymentFailure) -> CarryStep {
        do throws(DeviceFault) {
            try change(.failed(key: entry.key, failure))
            return .done
        } catch {
            // The payment is or may be recorded as confirmed, and would be sent
            // at the next launch. So it is not reported as failed yet, and the
            // write is retried.
            let state = record?.entry(entry.key)?.state
            guard !isRecordInDoubt, state == nil || state == .asked else {
                failures[entry.key] = failure
                sayOnce("A payment's failure is not written down yet: \(error.sentence)")
                return .later
            }
            failUnwritten(entry, failure)
            return .done
        }
    }

    /// Reports a failure even if it cannot be recorded.
    private func failUnwritten(_ entry: QueueEntry, _ failure: PaymentFailure) {
        guard !isClosed else { return }
        var entry = entry
        entry.state = .failed
        entry.failure = failure
        unwritten.append(entry)
        deliver([entry.key])
    }
}
