// SPDX-License-Identifier: Apache-2.0

/// A payload whose signature, chain and identity were verified. Only a verifier
/// of this module can make one, so a function with a `Verified` parameter need
/// not check where it comes from.
public struct Verified<Payload: Sendable>: Sendable {
    /// The signed payload.
    public let payload: Payload
    /// The compact JWS that contains it, to store and forward.
    public let compact: String

    init(payload: Payload, compact: String) {
        self.payload = payload
        self.compact = compact
    }
}

extension Verified: Equatable where Payload: Equatable {}
extension Verified: Hashable where Payload: Hashable {}

/// Limits for the data that this module reads and makes.
public enum SignedDataLimits {
    /// Bytes of a compact JWS: about a hundred times what a store signs, and so
    /// few that rejecting one costs nothing.
    public static let jwsBytesMax = 262_144
    /// Bytes of a receipt: room for about ten thousand purchases.
    public static let receiptBytesMax = 3_145_728
    /// Values of ASN.1 in a receipt's envelope, outside of the signed octets: more than
    /// ten times what three certificates and a signer have.
    public static let receiptNodesMax = 5000
    /// Attributes of a receipt, or of a purchase in it.
    public static let attributesMax = 20_000
    /// Bytes of one certificate.
    public static let certificateBytesMax = 8192
    /// The number of chains that a verifier caches. A store signs with one at a
    /// time.
    public static let provenChainsMax = 16
    /// How far ahead of `now` a signed date may be, because the clocks of two
    /// machines differ.
    public static let signedDateToleranceMilliseconds: Int64 = 60_000
}
