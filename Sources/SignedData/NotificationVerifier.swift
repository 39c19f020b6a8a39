// SPDX-License-Identifier: Apache-2.0

public import Commerce
public import StoreWire

/// Verifies notifications to one app in one environment: the rules of
/// ``JWSVerifier``, then that the payload concerns an app (`malformed`), the
/// bundle id (`bundleID`), the app's number if one is given (`appID`), and the
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
        guard let data = verified.payload.data else {
            throw VerificationFailure(breaking: .payload, "the notification has no data")
        }
        try verifier.rules.check(
            .bundleID, data.bundleId == bundleID.value,
            "data.bundleId is \(data.bundleId ?? "absent"), not \(bundleID)")
        try verifier.rules.check(
            .appID, appID == nil || data.appAppleId == appID,
            "data.appAppleId is \(data.appAppleId.map { "\($0)" } ?? "absent"), "
                + "not \(appID.map { "\($0)" } ?? "")")
        try verifier.rules.check(
            .environment, data.environment == environment.rawValue,
            "data.environment is \(data.environment ?? "absent"), not \(environment)")
        return verified
    }
}
