// SPDX-License-Identifier: Apache-2.0

public import Commerce
public import StoreWire

/// Verifies notifications to one app in one environment: the rules of
/// ``JWSVerifier``, then that the payload concerns an app (`malformed`), in
/// its `data` or its `summary`, the bundle id (`bundleID`), the app's number if one is given (`appID`), and the
/// environment (`environment`). The transaction inside it has a signature of
/// its own: see ``TransactionVerifier``.
public struct NotificationVerifier: Sendable {
    private let verifier: JWSVerifier
    private let bundleID: BundleID
    private let environment: Environment
    private let appID: Int64?

    /// `roots`: certificates in DER. `environment`: that of the realm that signs.
    public init(roots: [[UInt8]], bundleID: BundleID, environment: Environment, appID: Int64? = nil)
    {
        self.init(
            verifier: JWSVerifier(roots: roots), bundleID: bundleID, environment: environment,
            appID: appID)
    }

    /// Shares a verifier and its cache of proven chains.
    public init(
        verifier: JWSVerifier, bundleID: BundleID, environment: Environment, appID: Int64? = nil
    ) {
        self.verifier = verifier
        self.bundleID = bundleID
        self.environment = environment
        self.appID = appID
    }

    /// `compact` is the body's `signedPayload`. `now` is the store's time, or
    /// nil if unknown.
    public func verify(
        _ compact: String, now: Timestamp?
    ) throws(VerificationFailure) -> Verified<ResponseBodyV2DecodedPayload> {
        let verified = try verifier.verify(
            compact, as: ResponseBodyV2DecodedPayload.self, signedDate: \.signedDate, now: now)
        guard let about = AddressedApp(verified.payload) else {
            throw VerificationFailure(
                breaking: .payload,
                "the notification has no data, summary, externalPurchaseToken or appData")
        }
        try verifier.rules.check(
            .bundleID, about.bundleID == bundleID.value,
            "\(about.field).bundleId is \(about.bundleID ?? "absent"), not \(bundleID)")
        try verifier.rules.check(
            .appID, appID == nil || about.appID == appID,
            "\(about.field).appAppleId is \(about.appID.map { "\($0)" } ?? "absent"), "
                + "not \(appID.map { "\($0)" } ?? "")")
        try verifier.rules.check(
            .environment, about.environment == environment.rawValue,
            "\(about.field).environment is \(about.environment ?? "absent"), not \(environment)")
        return verified
    }
}

/// The app that a notification is addressed to, as the first of its objects names it.
private struct AddressedApp {
    let field: String
    let bundleID: String?
    let appID: Int64?
    let environment: String?

    /// Nil if it has none. The environment of a token is in the beginning of its id.
    init?(_ payload: ResponseBodyV2DecodedPayload) {
        if let data = payload.data {
            (field, bundleID) = ("data", data.bundleId)
            (appID, environment) = (data.appAppleId, data.environment)
        } else if let summary = payload.summary {
            (field, bundleID) = ("summary", summary.bundleId)
            (appID, environment) = (summary.appAppleId, summary.environment)
        } else if let token = payload.externalPurchaseToken {
            (field, bundleID) = ("externalPurchaseToken", token.bundleId)
            let isSandbox = token.externalPurchaseId?.hasPrefix("SANDBOX") == true
            (appID, environment) = (
                token.appAppleId, (isSandbox ? Environment.sandbox : .production).rawValue
            )
        } else if let data = payload.appData {
            (field, bundleID) = ("appData", data.bundleId)
            (appID, environment) = (data.appAppleId, data.environment)
        } else {
            return nil
        }
    }
}
