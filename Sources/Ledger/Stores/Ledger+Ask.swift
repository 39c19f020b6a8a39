// SPDX-License-Identifier: Apache-2.0

import Commerce
import SignedData
public import StoreWire

/// What became of a proof about which a store was asked.
public enum ProofOutcome<Taken: Hashable & Sendable>: Hashable, Sendable {
    case taken(Taken)
    /// The store does not answer. The proof is kept and settled later.
    case kept(ProofKept)
}

extension Ledger {
    /// Looks a transaction up in the store by its number, in production first, and
    /// books it once, like a signed transaction. If the store does not answer, the
    /// number is kept, and the purchase is booked later.
    ///
    /// Refusals, in order: `textInvalid`, `bundleIdMissing`, `bundleIdRefused`,
    /// `environmentRefused`, `storeUnconfigured`, `transactionUnknown`,
    /// `storeContradicts`, then as for a signed transaction; and `proofsTooMany`.
    public func take(
        _ request: TakeTransactionRequest, requestID: String = ""
    ) async throws -> ProofOutcome<LedgerPurchase> {
        let account = try request.account.map { try Edge.account($0) }
        let id = try Edge.number(request.transactionId, "transactionId")
        let bundleID = try bundleID(request.bundleId)
        let environment = try request.environment.map { try self.environment($0) }
        let proof = WaitingProof(
            .transaction, id, bundleID: bundleID, environment: environment, account: account)
        do {
            let booked = try await lookUp(proof, rule: .prompt)
            tell("took a transaction's number", booked, requestID)
            return .taken(booked.wire)
        } catch let trouble as StoreTrouble {
            return .kept(try await kept(proof, trouble))
        }
    }

    /// Has the store verify an app receipt (verifyReceipt), production first.
    func take(
        verifyReceipt receipt: String, account: String?
    ) async throws -> ProofOutcome<ReceiptTaken> {
        let app = try prover.app(of: try AppReceipt.vouched(receipt))
        let proof = WaitingProof(
            .receipt, receipt, bundleID: app.bundleID.value, environment: nil, account: account)
        do { return .taken(try await verify(proof, rule: .prompt)) } catch let trouble
            as StoreTrouble
        {
            return .kept(try await kept(proof, trouble))
        }
    }

    private func kept(
        _ proof: WaitingProof, _ trouble: StoreTrouble
    ) async throws -> ProofKept {
        let keptAt = try await keep(proof, because: trouble)
        return ProofKept(
            proof: proof.digest, keptDate: keptAt,
            message: "The proof is kept and will be settled once the store answers: "
                + "\(trouble.reason).")
    }

    /// Asks for a transaction and books it. Throws ``StoreTrouble`` if no store
    /// could answer.
    func lookUp(_ proof: WaitingProof, rule: RetryRule) async throws -> BookedPurchase {
        var refusedKey: StoreTrouble?
        let client = try storeClient(proof)
        for place in client.places(of: proof.bundleID, proof.environment) {
            do {
                let signed = try await client.ask(
                    place, "GET", "/inApps/v1/transactions/\(proof.proof)", rule: rule,
                    as: TransactionInfoResponse.self
                ).signedTransactionInfo
                return try await book(signed, of: proof, at: place)
            } catch let rejection as StoreClient.Rejection {
                guard rejection.isUnknown else {
                    throw StoreTrouble(
                        .unreachable, "the store answered with \(rejection.status)")
                }
            } catch let trouble as StoreTrouble where trouble.kind == .keyRefused {
                // An app that was never released has a key for the sandbox only.
                refusedKey = trouble
            }
        }
        if let refusedKey { throw refusedKey }
        throw LedgerRefusal(
            .notFound, code: "transactionUnknown", "The store does not know this transaction.",
            field: "transactionId", rule: "a transaction of the app, in an accepted environment",
            remedy: "send the transactionId as the device has it")
    }

    /// Books the answer of a store, which must be about what it was asked.
    private func book(
        _ signed: String, of proof: WaitingProof, at place: StoreClient.Place
    ) async throws -> BookedPurchase {
        let proven = try prover.purchase(signed, wall: ports.wall.now)
        guard proven.key.transactionID.isSame(as: proof.proof),
            proven.key.environment == place.environment,
            proven.key.bundleID.isSame(as: proof.bundleID)
        else {
            throw LedgerRefusal(
                .badRequest, code: "storeContradicts",
                "The store answered with another transaction.", field: "transactionId",
                rule: "the transaction, app and environment that were asked for",
                remedy: "check the addresses of the stores in the ledger's configuration")
        }
        try await ports.status?.admit(signed, "signedTransaction")
        return try await book(proven, by: proof.claim(proven), of: proof.keptKey)
    }

    /// Has a receipt verified and books what the answer vouches for.
    func verify(_ proof: WaitingProof, rule: RetryRule) async throws -> ReceiptTaken {
        let receipt = try AppReceipt.vouched(proof.proof)
        let app = try prover.app(of: receipt)
        let client = try storeClient(proof)
        var refusedKey: StoreTrouble?
        for place in client.places(of: proof.bundleID, proof.environment) {
            let reply = try await client.ask(
                verifyReceipt: place, receipt: Base64.encode(try Edge.receipt(proof.proof)),
                rule: rule)
            switch reply.meaning {
            case .valid:
                guard reply.receipt?.bundleID?.isSame(as: proof.bundleID) != false,
                    reply.environment.map({ $0 == place.environment.rawValue }) != false
                else { throw Self.receiptContradicts }
                try prover.check(receipt, of: app, in: place.environment, wall: ports.wall.now)
                return try await book(reply, sent: receipt, of: proof, at: place)
            case .elsewhere: continue
            case .trouble(.keyRefused):
                refusedKey = StoreTrouble(
                    .keyRefused, "the store does not accept the shared secret")
            case .trouble(let kind):
                throw StoreTrouble(
                    kind, "verifyReceipt answered with the status \(reply.status)")
            case .refused: throw Self.receiptRefused(reply.status)
            }
        }
        if let refusedKey { throw refusedKey }
        throw LedgerRefusal(
            .badRequest, code: "environmentRefused",
            "This receipt is of an environment that this ledger does not book.",
            field: "environment",
            rule: app.environments.map(\.rawValue).sorted().joined(separator: " or "),
            remedy: "sandbox receipts belong in a ledger that accepts the sandbox")
    }

    private func book(
        _ reply: VerifyReceiptReply, sent receipt: AppReceipt, of proof: WaitingProof,
        at place: StoreClient.Place
    ) async throws -> ReceiptTaken {
        let bundleID = place.bundleID.value
        let vouched = reply.purchases(
            sent: receipt, root: place.root, environment: place.environment, bundleID: bundleID)
        return try await book(
            vouched, bundleID: bundleID, environment: place.environment, of: proof.keptKey,
            by: proof.claim)
    }

    private func storeClient(_ proof: WaitingProof) throws(LedgerRefusal) -> StoreClient {
        if let client, !client.places(of: proof.bundleID, proof.environment).isEmpty {
            return client
        }
        throw Self.storeUnconfigured
    }

    static var storeUnconfigured: LedgerRefusal {
        LedgerRefusal(
            .badRequest, code: "storeUnconfigured",
            "This ledger does not know how to ask the store.", field: "environment",
            rule: "an App Store Server API key for the store, such as --api-key",
            remedy: "serve the ledger with the key, or send what the store has signed")
    }

    private static var receiptContradicts: LedgerRefusal {
        LedgerRefusal(
            .badRequest, code: "storeContradicts",
            "The store answered about another receipt.", field: "receipt",
            rule: "the app and environment that were asked for",
            remedy: "check the addresses of the stores in the ledger's configuration")
    }

    private static func receiptRefused(_ status: Int) -> LedgerRefusal {
        LedgerRefusal(
            .badRequest, code: "proofInvalid",
            "The store refused the receipt with the status \(status).", field: "receipt",
            rule: "a receipt of this store", remedy: "submit it exactly as the store signed it")
    }
}

extension WaitingProof {
    /// For whom the store's answer is booked. Without an account nobody claims a purchase
    /// that has one.
    fileprivate func claim(_ proven: ProvenPurchase) -> PurchaseClaim {
        account == nil ? .news(proven) : .call(for: account, proven)
    }
}

extension AppReceipt {
    /// Reads a receipt about which a store is going to be asked.
    static func vouched(_ text: String) throws(LedgerRefusal) -> AppReceipt {
        let bytes = try Edge.receipt(text)
        do { return try AppReceipt(vouchedFor: bytes) } catch {
            throw LedgerRefusal(
                .badRequest, code: "proofInvalid", "This proves nothing: \(error.code).",
                field: "receipt", rule: error.message,
                remedy: "submit it exactly as the store signed it")
        }
    }
}

extension Edge {
    /// Returns a transaction's number, which becomes part of an address.
    static func number(_ text: String, _ field: String) throws(LedgerRefusal) -> String {
        guard (1...32).contains(text.utf8.count),
            text.utf8.allSatisfy({ (0x30...0x39).contains($0) })
        else {
            throw LedgerRefusal(
                .badRequest, code: "textInvalid", "This is no transaction's number.",
                field: field, rule: "1 to 32 decimal digits",
                remedy: "send the transactionId as the device has it")
        }
        return text
    }
}
