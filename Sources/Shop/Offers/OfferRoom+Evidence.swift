// SPDX-License-Identifier: Apache-2.0

import Commerce
import SignedData
import Storage
import StoreWire

/// The payment that asks for an offer.
struct OfferQuestion: Sendable {
    let offer: RequestedOffer
    /// Nil for a code, which has its own.
    let product: ProductID?
    /// The app's own name for its user.
    let username: String?
    let appTransactionID: Int64
    let claimant: OfferClaim.Claimant
}

extension OfferRoom {
    /// How long an offer can be used after it was signed, in wall time: a jump of
    /// commercial time does not change it.
    static let signedMilliseconds: Int64 = 24 * 3_600_000
    /// How far the clocks of a merchant's server and of the store may differ.
    static let toleranceMilliseconds: Int64 = 60_000

    /// Finds out whether the payment may ask for its offer. `isClaiming`: what can
    /// be used once is used now, under the payment's id. A repeated request of the
    /// same payment gets the same answer.
    func evidence(
        for question: OfferQuestion, isClaiming: Bool
    ) async throws -> OfferEvidence {
        do throws(NoOffer) {
            switch question.offer {
            case .winBack(let id): return .proven(.winBack, name: id)
            case .promotional(let id, .signature(let signature)):
                try await check(signature, of: id, question)
                try await claim(signature.nonce, question, isClaiming)
                return .proven(.promotional, name: id)
            case .promotional(let id, .token(let text)):
                let claims = try await checked(text, for: .promotional, question)
                guard claims.offerID == id else { throw .refused(.offerTokenInvalid) }
                try await claim(claims.nonce, question, isClaiming)
                return .proven(.promotional, name: id)
            case .introductory(let text):
                let claims = try await checked(text, for: .introductory, question)
                try await claim(claims.nonce, question, isClaiming)
                return .introduction(isAllowed: claims.isIntroductionAllowed == true)
            case .code(let text):
                let name = try await claimed(text, question, isClaiming)
                return .proven(.code, name: name)
            }
        } catch {
            switch error {
            case .refused(let refusal): return .refused(refusal)
            case .failed(let fault): throw fault
            }
        }
    }

    /// Returns the evidence for a payment that was found right when it was asked
    /// for.
    func evidence(ofAsked question: OfferQuestion) async throws -> OfferEvidence {
        switch question.offer {
        case .winBack(let id): return .proven(.winBack, name: id)
        case .promotional(let id, _): return .proven(.promotional, name: id)
        case .introductory(let text):
            let token = try? OfferToken(text, for: .introductory)
            return .introduction(isAllowed: token?.claims.isIntroductionAllowed == true)
        case .code:
            let payment = question.claimant
            let values: [SQLValue] = [
                .integer(payment.customer.value), .text(payment.bundleID.value),
                .text(payment.purchaseID.value),
            ]
            let row = try await realm.readHouse {
                try $0.first(Statement.Offers.ofPurchase, values)
            }
            guard let row else { return .refused(.offerCodeInvalid) }
            return .proven(.code, name: try row.text("offer_name"))
        }
    }

    // MARK: What was signed

    private func check(
        _ signature: OfferSignature, of offerID: String, _ question: OfferQuestion
    ) async throws(NoOffer) {
        let bundleID = question.claimant.bundleID
        let key = try await publicKey(signature.keyID, of: bundleID, issuer: nil)
        let offer = SignedOffer(
            bundleID: bundleID, keyID: signature.keyID,
            productID: question.product ?? ProductID(""), offerID: offerID,
            username: question.username, nonce: signature.nonce, signedAt: signature.signedAt)
        guard offer.isSigned(signature.signature, by: key) else {
            throw .refused(.offerSignatureInvalid)
        }
        try checkAge(signature.signedAt)
    }

    private func checked(
        _ text: String, for purpose: OfferToken.Purpose, _ question: OfferQuestion
    ) async throws(NoOffer) -> OfferToken.Claims {
        guard let token = try? OfferToken(text, for: purpose) else {
            throw .refused(.offerTokenInvalid)
        }
        let claims = token.claims
        guard claims.bundleID == question.claimant.bundleID, claims.productID == question.product
        else { throw .refused(.offerTokenInvalid) }
        let key = try await publicKey(
            token.keyID, of: claims.bundleID, issuer: claims.issuerID)
        guard token.isSigned(by: key) else { throw .refused(.offerSignatureInvalid) }
        try await checkTransaction(claims.transactionID, question)
        try checkAge(claims.issuedAt)
        return claims
    }

    private func publicKey(
        _ keyID: String, of bundleID: BundleID, issuer: String?
    ) async throws(NoOffer) -> [UInt8] {
        guard !keyID.utf8.contains(0), keyID.utf8.count <= Edge.textBytesMax else {
            throw .refused(.offerKeyUnknown)
        }
        let row = try await found {
            try await realm.readHouse { try $0.first(Statement.ServerKeys.byID, [.text(keyID)]) }
        }
        guard let row, (try? row.text("bundle_id")) == bundleID.value,
            issuer == nil || (try? row.text("issuer_id")) == issuer,
            let key = try? row.blob("public_key")
        else { throw .refused(.offerKeyUnknown) }
        return key
    }

    private func checkAge(_ signedAt: Timestamp) throws(NoOffer) {
        let age = realm.ports.wall.now.milliseconds(since: signedAt)
        guard (-Self.toleranceMilliseconds...Self.signedMilliseconds).contains(age) else {
            throw .refused(.offerOutdated)
        }
    }

    /// A token may name its customer by a transaction.
    private func checkTransaction(
        _ id: String?, _ question: OfferQuestion
    ) async throws(NoOffer) {
        guard let id, id != String(question.appTransactionID) else { return }
        guard let number = Edge.number(id) else { throw .refused(.offerTokenInvalid) }
        let customer = question.claimant.customer
        let row = try await found {
            try await realm.read(of: customer) {
                try $0.first(
                    Statement.Transactions.one, [.integer(customer.value), .integer(number)])
            }
        }
        guard let row, (try? row.text("bundle_id")) == question.claimant.bundleID.value else {
            throw .refused(.offerTokenInvalid)
        }
    }

    private func claim(
        _ nonce: UUIDText, _ question: OfferQuestion, _ isClaiming: Bool
    ) async throws(NoOffer) {
        guard isClaiming else { return }
        let claim = OfferClaim.nonce(nonce, question.claimant)
        let wall = realm.ports.wall.now
        let isMine = try await found {
            try await realm.bookkeepingAtHome { writing -> Ending<Bool> in
                .commit(try claim.write(writing, at: wall) { _ in false })
            }
        }
        guard isMine else { throw .refused(.offerNonceUsed) }
    }

    // MARK: Codes

    /// Claims a code and returns its offer's name.
    private func claimed(
        _ text: String, _ question: OfferQuestion, _ isClaiming: Bool
    ) async throws(NoOffer) -> String {
        guard let code = OfferCode(text: text),
            let row = try await found({
                try await self.code(code, of: question.claimant.bundleID)
            }), question.product == nil || row.productID == question.product
        else { throw .refused(.offerCodeInvalid) }
        let claim = OfferClaim.code(code, for: row.productID, row.offerName, question.claimant)
        let holder = try await found {
            try await realm.readHouse {
                try $0.first(Statement.Offers.claimed, claim.holderKey)
            }
        }
        let failed = try await found { try await failedPayment(holder, claim) }
        guard isClaiming else {
            // A customer who has used a code hears of it before there is a payment.
            guard row.isUsable, holder == nil || failed != nil else {
                throw .refused(.offerCodeInvalid)
            }
            return row.offerName
        }
        let wall = realm.ports.wall.now
        let isMine = try await found {
            try await self.write(claim, at: wall, row.now) { $0 == failed }
        }
        guard isMine else { throw .refused(.offerCodeInvalid) }
        return row.offerName
    }

    /// Claims behind the code's lock, so that no more customers redeem it than may.
    private func write(
        _ claim: OfferClaim, at wall: Timestamp, _ now: Timestamp,
        passingOnIf isRefused: @escaping @Sendable (PurchaseID) -> Bool
    ) async throws -> Bool {
        let key: [SQLValue] = [
            .text(claim.claimant.bundleID.value), .optional(claim.code?.text),
        ]
        return try await realm.bookkeepingAtHome { writing -> Ending<Bool> in
            let lock = key + [.integer(now.milliseconds)]
            guard try writing.first(Statement.Offers.lock, lock) != nil,
                let row = try writing.first(Statement.Offers.code, key)
            else { return .leave(false) }
            let before = try OfferCodeRow(row, at: now)
            guard try claim.write(writing, at: wall, passingOnIf: isRefused) else {
                return .leave(false)
            }
            guard let row = try writing.first(Statement.Offers.code, key) else {
                return .leave(false)
            }
            let isNew = try OfferCodeRow(row, at: now).claims > before.claims
            // A payment that has its claim keeps it. A new one needs a code that
            // can be used.
            return isNew && !before.isUsable ? .leave(false) : .commit(true)
        }
    }

    /// Returns the customer's earlier payment that holds a claim, if it has failed.
    /// `holder`: the row of the earlier claim.
    private func failedPayment(_ holder: Row?, _ claim: OfferClaim) async throws -> PurchaseID? {
        guard let holder else { return nil }
        let payment = claim.claimant
        let id = PurchaseID(try holder.text("purchase_id"))
        let key: [SQLValue] = [
            .integer(payment.customer.value), .text(payment.bundleID.value), .text(id.value),
        ]
        let row = try await realm.read(of: payment.customer) {
            try $0.first(Statement.Offers.purchase, key)
        }
        if let row { return try row.text("state") == "refused" ? id : nil }
        // A payment that was never written may still be on its way.
        let claimedAt = Timestamp(milliseconds: try holder.integer("claimed_at"))
        let age = realm.ports.wall.now.milliseconds(since: claimedAt)
        return age > Self.underwayMilliseconds ? id : nil
    }

    /// After this time a payment that has claimed and was not written has failed.
    static let underwayMilliseconds: Int64 = 3_600_000

    private func found<Answer>(
        _ body: () async throws -> Answer
    ) async throws(NoOffer) -> Answer {
        do { return try await body() } catch { throw .failed(error) }
    }
}

/// Why there is no evidence.
private enum NoOffer: Error {
    case refused(PurchaseRefusal)
    /// A database did not answer.
    case failed(any Error)
}
