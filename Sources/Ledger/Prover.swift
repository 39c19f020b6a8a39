// SPDX-License-Identifier: Apache-2.0

import Commerce
import SignedData
import StoreWire

/// Verifies what the trusted roots have signed, each for its own environments.
/// The chains of a root are cached, so that later proofs are fast.
struct Prover: Sendable {
    private struct Witness: Sendable {
        let fingerprint: String
        let environments: Set<Environment>
        let verifier: JWSVerifier
        let receipts: ReceiptVerifier
    }

    private let witnesses: [Witness]
    private let apps: [String: LedgerApp]

    /// The fingerprints of the trusted roots.
    var roots: [String] { witnesses.map(\.fingerprint) }

    init(_ configuration: LedgerConfiguration) {
        // A root that is configured twice counts once, with the environments of
        // both.
        var environments: [[UInt8]: Set<Environment>] = [:]
        var receiptRoots: [[UInt8]: Set<[UInt8]>] = [:]
        for root in configuration.roots {
            environments[root.certificate, default: []].formUnion(root.environments)
            receiptRoots[root.certificate, default: [root.certificate]]
                .formUnion(root.receiptRoots)
        }
        witnesses = environments.map { certificate, environments in
            Witness(
                fingerprint: CertificateAuthority.fingerprint(of: certificate),
                environments: environments, verifier: JWSVerifier(roots: [certificate]),
                receipts: ReceiptVerifier(roots: Array(receiptRoots[certificate] ?? [])))
        }.sorted { $0.fingerprint < $1.fingerprint }
        apps = Dictionary(
            configuration.apps.map { ($0.bundleID.value, $0) },
            uniquingKeysWith: { first, _ in first })
    }

    /// Returns the purchase that a signed transaction proves. `field` names it
    /// in refusals.
    func purchase(
        _ compact: String, field: String = "signedTransaction", wall: Timestamp
    ) throws(LedgerRefusal) -> ProvenPurchase {
        let (witness, verified) = try verify(
            compact, JWSTransactionDecodedPayload.self, \.signedDate, field)
        let payload = verified.payload
        let app = try app(payload.bundleId, field)
        let environment = try environment(payload.environment, app, witness, field)
        try checkFuture(payload.signedDate, environment, wall, field)
        return try ProvenPurchase(
            payload, root: witness.fingerprint, environment: environment,
            bundleID: app.bundleID.value)
    }

    /// A notification that a trusted root has signed.
    struct Notification: Sendable {
        let said: ResponseBodyV2DecodedPayload
        let root: String
        /// Nil if it concerns no transaction.
        let purchase: ProvenPurchase?
    }

    /// Returns the contents of a notification, and the purchase in it if there
    /// is one.
    func notification(
        _ compact: String, wall: Timestamp
    ) throws(LedgerRefusal) -> Notification {
        let field = "signedPayload"
        let (witness, verified) = try verify(
            compact, ResponseBodyV2DecodedPayload.self, \.signedDate, field)
        let said = verified.payload
        // Any data that a store signs for this app can be decoded as a
        // notification with all fields missing. So a type is required.
        guard let type = said.notificationType, !type.isEmpty else {
            throw LedgerRefusal(
                .badRequest, code: "notificationInvalid", "This is not a notification.",
                field: field, rule: "a notification has a notificationType",
                remedy: "post what the store posts; a signed transaction goes to "
                    + "/ledger/v1/purchases")
        }
        let root = witness.fingerprint
        guard let data = said.data else {
            // Apple's root signs for every app, so what is kept must be for this one.
            let others = [
                said.summary?.bundleId, said.externalPurchaseToken?.bundleId,
                said.appData?.bundleId,
            ]
            _ = try app(others.compactMap(\.self).first, field)
            return Notification(said: said, root: root, purchase: nil)
        }
        let app = try app(data.bundleId, field)
        let environment = try environment(data.environment, app, witness, field)
        try checkFuture(said.signedDate, environment, wall, field)
        try checkNumber(data.appAppleId, app, environment, field)
        guard let signed = data.signedTransactionInfo else {
            return Notification(said: said, root: root, purchase: nil)
        }
        let purchase = try purchase(signed, field: "signedTransactionInfo", wall: wall)
        guard purchase.key.bundleID.isSame(as: app.bundleID.value),
            purchase.key.environment == environment, purchase.key.root == witness.fingerprint
        else {
            throw LedgerRefusal(
                .badRequest, code: "notificationContradicts",
                "The notification and the transaction in it disagree.",
                field: "signedTransactionInfo",
                rule: "one root, one app and one environment for both",
                remedy: "submit the notification as the store sent it")
        }
        return Notification(said: said, root: root, purchase: purchase.reported(by: type))
    }

    /// Returns what was signed about the renewal of a purchase's subscription.
    func renewal(
        _ compact: String, of purchase: ProvenPurchase, wall: Timestamp
    ) throws(LedgerRefusal) -> ProvenRenewal {
        let field = "signedRenewalInfo"
        let (witness, verified) = try verify(
            compact, JWSRenewalInfoDecodedPayload.self, \.signedDate, field)
        let payload = verified.payload
        try checkFuture(payload.signedDate, purchase.key.environment, wall, field)
        guard witness.fingerprint == purchase.key.root,
            payload.originalTransactionId.isSame(as: purchase.facts.originalTransactionID)
        else {
            throw LedgerRefusal(
                .badRequest, code: "notificationContradicts",
                "The notification's transaction and renewal disagree.", field: field,
                rule: "one root and one subscription for both",
                remedy: "submit the notification as the store sent it")
        }
        guard let signedAt = payload.signedDate else {
            throw ProvenPurchase.incomplete("signedDate", "an instant")
        }
        return ProvenRenewal(signedAt: signedAt, graceUntil: payload.gracePeriodExpiresDate)
    }

    /// Returns the contents of a receipt, and the store and environment that it
    /// proves.
    func receipt(
        _ bytes: [UInt8], wall: Timestamp
    ) throws(LedgerRefusal) -> ProvenReceipt {
        let field = "receipt"
        let (witness, receipt) = try prove(field) { witness throws(VerificationFailure) in
            try witness.receipts.verifySigned(bytes).receipt
        }
        let app = try app(receipt.bundleID?.value, field)
        let environment = try environment(
            receipt.environment.map(Self.environment(ofReceipt:)), app, witness, field)
        try checkFuture(receipt.creationDate, environment, wall, field)
        try checkNumber(receipt.appItemID, app, environment, field)
        return ProvenReceipt(
            receipt: receipt, root: witness.fingerprint, environment: environment,
            bundleID: app.bundleID.value)
    }

    /// Returns the app whose receipt this is, before a store is asked about it.
    func app(of receipt: AppReceipt) throws(LedgerRefusal) -> LedgerApp {
        try app(receipt.bundleID?.value, "receipt")
    }

    /// Checks a receipt that a store has vouched for, in an environment.
    func check(
        _ receipt: AppReceipt, of app: LedgerApp, in environment: Environment, wall: Timestamp
    ) throws(LedgerRefusal) {
        try checkFuture(receipt.creationDate, environment, wall, "receipt")
        try checkNumber(receipt.appItemID, app, environment, "receipt")
    }

    /// Receipts have other words for some environments.
    static func environment(ofReceipt word: String) -> String {
        switch word {
        case "ProductionVPP": Environment.production.rawValue
        case "ProductionSandbox", "ProductionVPPSandbox": Environment.sandbox.rawValue
        default: word
        }
    }

    private func verify<Payload: Decodable & Sendable>(
        _ compact: String, _ type: Payload.Type,
        _ signedDate: @Sendable (Payload) -> Timestamp?, _ field: String
    ) throws(LedgerRefusal) -> (Witness, Verified<Payload>) {
        try prove(field) { witness throws(VerificationFailure) in
            try witness.verifier.verify(compact, as: type, signedDate: signedDate, now: nil)
        }
    }

    /// Tries one root after another, until one has signed it.
    private func prove<Proof>(
        _ field: String, _ verify: (Witness) throws(VerificationFailure) -> Proof
    ) throws(LedgerRefusal) -> (Witness, Proof) {
        var failure: VerificationFailure?
        for witness in witnesses {
            do { return (witness, try verify(witness)) } catch {
                failure = error
                // Another root may have signed it. All other failures are
                // final.
                guard error.code == .root else { break }
            }
        }
        let isForeign = failure?.code == .root
        throw LedgerRefusal(
            .badRequest, code: isForeign ? "rootUntrusted" : "proofInvalid",
            isForeign
                ? "No root that this ledger trusts has signed this."
                : "This proves nothing: \(failure?.code.description ?? "no root is trusted").",
            field: field, rule: failure?.message ?? "at least one trusted root",
            remedy: isForeign
                ? "let the ledger trust the root of the store that signed it"
                : "submit it exactly as the store signed it")
    }

    private func app(_ bundleID: String?, _ field: String) throws(LedgerRefusal) -> LedgerApp {
        guard let bundleID, let app = apps[bundleID] else {
            throw LedgerRefusal(
                .badRequest, code: "bundleIdRefused", "This was signed for another app.",
                field: "bundleId", rule: apps.keys.sorted().joined(separator: " or "),
                remedy: "submit it to that app's ledger, or let this one accept the app")
        }
        return app
    }

    private func environment(
        _ word: String?, _ app: LedgerApp, _ witness: Witness, _ field: String
    ) throws(LedgerRefusal) -> Environment {
        let allowed = app.environments.intersection(witness.environments)
        guard let environment = word.flatMap(Environment.init(named:)),
            allowed.contains(environment)
        else {
            throw LedgerRefusal(
                .badRequest, code: "environmentRefused",
                "This ledger does not accept purchases of this environment from this root.",
                field: "environment",
                rule: allowed.isEmpty
                    ? "none" : allowed.map(\.rawValue).sorted().joined(separator: " or "),
                remedy: "sandbox purchases belong in a ledger that accepts the sandbox")
        }
        return environment
    }

    /// Production's dates are compared with wall time. A sandbox's clock may
    /// have any time.
    private func checkFuture(
        _ date: Timestamp?, _ environment: Environment, _ wall: Timestamp, _ field: String
    ) throws(LedgerRefusal) {
        guard environment == .production, let date else { return }
        let latest = wall.adding(milliseconds: SignedDataLimits.signedDateToleranceMilliseconds)
        guard date <= latest else {
            throw LedgerRefusal(
                .badRequest, code: "proofInvalid", "This proves nothing: signedInFuture.",
                field: field, rule: "signed no later than now",
                remedy: "correct this machine's clock")
        }
    }

    private func checkNumber(
        _ number: Int64?, _ app: LedgerApp, _ environment: Environment, _ field: String
    ) throws(LedgerRefusal) {
        guard environment == .production, let wanted = app.appID, number != wanted else { return }
        throw LedgerRefusal(
            .badRequest, code: "appIdRefused", "This was signed for an app of another number.",
            field: "appAppleId", rule: "\(wanted)", remedy: "submit it to that app's ledger")
    }
}
