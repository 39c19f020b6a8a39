// SPDX-License-Identifier: Apache-2.0

/// A payload whose signature, chain and identity have been checked. Nothing
/// but a verifier of this module can make one, so a function that takes a
/// `Verified` value need not ask where it came from.
public struct Verified<Payload: Sendable>: Sendable {
    /// What was signed.
    public let payload: Payload
    /// The compact JWS that said it, for keeping and passing on.
    public let compact: String

    init(payload: Payload, compact: String) {
        self.payload = payload
        self.compact = compact
    }
}

extension Verified: Equatable where Payload: Equatable {}
extension Verified: Hashable where Payload: Hashable {}

/// Bounds of what this module reads and makes.
public enum SignedDataLimits {
    /// Bytes of a compact JWS: some hundred times what a store signs, and
    /// little enough that refusing one costs nothing.
    public static let jwsBytesMax = 262_144
    /// Bytes of a receipt: about ten thousand purchases.
    public static let receiptBytesMax = 3_145_728
    /// Attributes of a receipt, or of a purchase in one.
    public static let attributesMax = 20_000
    /// Bytes of one certificate.
    public static let certificateBytesMax = 8192
    /// Chains a verifier remembers. A store signs with one at a time.
    public static let provenChainsMax = 16
    /// How far ahead of `now` a signed date may lie before it counts as
    /// signed in the future: clocks of two machines differ.
    public static let signedDateToleranceMilliseconds: Int64 = 60_000
}
