// SPDX-License-Identifier: Apache-2.0

public import Commerce
import Crypto
import Foundation
import StrictJSON

/// An offer in the newer signed form: a token (JWS) of a merchant's server for one
/// payment, parsed but not verified before ``isSigned(by:)``.
/// [Apple's page](https://developer.apple.com/documentation/storekit/generating-jws-to-sign-app-store-requests)
public struct OfferToken: Sendable {
    /// The purpose of a token. The raw values are its audiences.
    public enum Purpose: String, Sendable {
        /// Grants a promotional offer.
        case promotional = "promotional-offer"
        /// Decides whether the customer gets the introductory offer.
        case introductory = "introductory-offer-eligibility"
    }

    /// Bytes of a token.
    public static let bytesMax = 8192

    /// The id of the key with which it claims to be signed.
    public let keyID: String
    public let claims: Claims
    private let jws: CompactJWS

    /// The facts that a token states.
    public struct Claims: Hashable, Sendable {
        public let issuerID: String
        public let bundleID: BundleID
        public let productID: ProductID
        /// Present in a promotional offer.
        public let offerID: String?
        /// Present in a decision about the introductory offer.
        public let isIntroductionAllowed: Bool?
        /// One of the customer's transactions in the app, or the app transaction. It
        /// may be missing in a promotional offer.
        public let transactionID: String?
        public let nonce: UUIDText
        public let issuedAt: Timestamp
    }

    /// Parses a token and checks its form. Throws a ``VerificationFailure``:
    /// `malformed` if it is not a JWS with the claims of its purpose, or has `exp`,
    /// which such a token must not have; `algorithm` unless it is ES256 without
    /// `crit`; `audience` if it is for another purpose.
    public init(_ text: String, for purpose: Purpose) throws(VerificationFailure) {
        jws = try CompactJWS(text, bytesMax: Self.bytesMax)
        let header = try jws.header(TokenHeader.self)
        guard header.alg == "ES256", !header.hasCritical else {
            throw VerificationFailure(.algorithm, "the token's alg must be ES256, without crit")
        }
        guard let keyID = header.kid, !keyID.isEmpty,
            let raw = try? StrictJSON.decode(RawClaims.self, from: jws.payload)
        else {
            throw VerificationFailure(
                .malformed,
                "the token must name its key in kid, and be JSON with iss, iat, aud, bid, nonce "
                    + "and productId")
        }
        guard raw.aud == purpose.rawValue else {
            throw VerificationFailure(.audience, "the token's aud must be \(purpose.rawValue)")
        }
        guard !raw.hasExpiry else {
            throw VerificationFailure(.malformed, "the token must not have exp")
        }
        self.keyID = keyID
        claims = try raw.claims(for: purpose)
    }

    /// Whether it is signed with a key. `publicKey` is a ``ServerKey/publicKey``.
    public func isSigned(by publicKey: [UInt8]) -> Bool {
        guard let key = try? P256.Signing.PublicKey(x963Representation: publicKey) else {
            return false
        }
        return (try? jws.checkSignature(by: key)) != nil
    }

    /// Makes a token, as a merchant's server does. `claims` has everything but the
    /// audience. Throws a ``VerificationFailure`` (`malformed`) if `privateKeyPEM` is
    /// not a P-256 key in PKCS#8 PEM.
    public static func sign(
        _ claims: Claims, for purpose: Purpose, keyID: String, privateKeyPEM: String
    ) throws -> String {
        guard let key = try? P256.Signing.PrivateKey(pemRepresentation: privateKeyPEM) else {
            throw VerificationFailure(
                .malformed, "the private key must be a P-256 key in PKCS#8 PEM (a .p8 file)")
        }
        let header = try StrictJSON.encode(["alg": "ES256", "kid": keyID, "typ": "JWT"])
        return try CompactJWS.sign(
            prefix: JWSPrefix(header: header),
            payload: StrictJSON.encode(MadeClaims(claims, purpose)), by: key)
    }
}

/// The claims as they stand in the token.
private struct RawClaims: Decodable {
    let aud: String
    let hasExpiry: Bool
    private let iss: String
    private let iat: Double
    private let bid: String
    private let nonce: String
    private let productId: String
    private let offerIdentifier: String?
    private let allowIntroductoryOffer: Bool?
    private let transactionId: String?

    enum CodingKeys: String, CodingKey {
        case iss, iat, aud, bid, nonce, exp, productId, offerIdentifier, allowIntroductoryOffer
        case transactionId
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        aud = try container.decode(String.self, forKey: .aud)
        hasExpiry = container.contains(.exp)
        iss = try container.decode(String.self, forKey: .iss)
        iat = try container.decode(Double.self, forKey: .iat)
        bid = try container.decode(String.self, forKey: .bid)
        nonce = try container.decode(String.self, forKey: .nonce)
        productId = try container.decode(String.self, forKey: .productId)
        offerIdentifier = try container.decodeIfPresent(String.self, forKey: .offerIdentifier)
        allowIntroductoryOffer = try container.decodeIfPresent(
            Bool.self, forKey: .allowIntroductoryOffer)
        transactionId = try container.decodeIfPresent(String.self, forKey: .transactionId)
    }

    func claims(
        for purpose: OfferToken.Purpose
    ) throws(VerificationFailure) -> OfferToken.Claims {
        guard let nonce = UUIDText(nonce), (0...9e12).contains(iat) else {
            throw VerificationFailure(
                .malformed, "the token's nonce must be a UUID, and its iat a number of seconds")
        }
        let isComplete =
            switch purpose {
            case .promotional: offerIdentifier != nil
            case .introductory: allowIntroductoryOffer != nil && transactionId != nil
            }
        guard isComplete else {
            throw VerificationFailure(
                .malformed,
                purpose == .promotional
                    ? "the token must have offerIdentifier"
                    : "the token must have allowIntroductoryOffer and transactionId")
        }
        return OfferToken.Claims(
            issuerID: iss, bundleID: BundleID(bid), productID: ProductID(productId),
            offerID: offerIdentifier, isIntroductionAllowed: allowIntroductoryOffer,
            transactionID: transactionId, nonce: nonce,
            issuedAt: Timestamp(milliseconds: Int64(iat * 1000)))
    }
}

/// The claims of a token that is made here.
private struct MadeClaims: Encodable {
    let iss: String
    let iat: Int64
    let aud: String
    let bid: String
    let nonce: String
    let productId: String
    let offerIdentifier: String?
    let allowIntroductoryOffer: Bool?
    let transactionId: String?

    init(_ claims: OfferToken.Claims, _ purpose: OfferToken.Purpose) {
        iss = claims.issuerID
        iat = claims.issuedAt.milliseconds / 1000
        aud = purpose.rawValue
        bid = claims.bundleID.value
        nonce = claims.nonce.text
        productId = claims.productID.value
        offerIdentifier = claims.offerID
        allowIntroductoryOffer = claims.isIntroductionAllowed
        transactionId = claims.transactionID
    }
}

extension OfferToken.Claims {
    /// The claims of a promotional offer, or of a decision about the introductory
    /// offer.
    public init(
        issuerID: String, bundleID: BundleID, productID: ProductID, offerID: String? = nil,
        isIntroductionAllowed: Bool? = nil, transactionID: String? = nil, nonce: UUIDText,
        at now: Timestamp
    ) {
        self.init(
            issuerID: issuerID, bundleID: bundleID, productID: productID, offerID: offerID,
            isIntroductionAllowed: isIntroductionAllowed, transactionID: transactionID,
            nonce: nonce, issuedAt: now)
    }
}
