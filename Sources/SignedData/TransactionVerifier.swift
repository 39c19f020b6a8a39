// SPDX-License-Identifier: Apache-2.0

public import Commerce
public import StoreWire

/// Verifies signed transactions of one app in one environment: the rules of
/// ``JWSVerifier``, then the bundle id (`bundleID`) and the environment
/// (`environment`).
public struct TransactionVerifier: Sendable {
    private let verifier: JWSVerifier
    private let bundleID: BundleID
    private let environment: Environment

    /// `roots`: certificates in DER. `environment`: that of the realm that signs.
    public init(roots: [[UInt8]], bundleID: BundleID, environment: Environment) {
        self.init(
            verifier: JWSVerifier(roots: roots), bundleID: bundleID, environment: environment)
    }

    /// Shares a verifier and its cache of proven chains.
    public init(verifier: JWSVerifier, bundleID: BundleID, environment: Environment) {
        self.verifier = verifier
        self.bundleID = bundleID
        self.environment = environment
    }

    /// `now` is the store's time, or nil if unknown.
    public func verify(
        _ compact: String, now: Timestamp?
    ) throws(VerificationFailure) -> Verified<JWSTransactionDecodedPayload> {
        let verified = try verifier.verify(
            compact, as: JWSTransactionDecodedPayload.self, signedDate: \.signedDate, now: now)
        try verifier.rules.check(
            .bundleID, verified.payload.bundleId == bundleID.value,
            "bundleId is \(verified.payload.bundleId ?? "absent"), not \(bundleID)")
        try verifier.rules.check(
            .environment, verified.payload.environment == environment.rawValue,
            "environment is \(verified.payload.environment ?? "absent"), not \(environment)")
        return verified
    }
}
