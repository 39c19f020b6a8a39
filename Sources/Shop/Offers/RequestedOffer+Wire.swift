// SPDX-License-Identifier: Apache-2.0

import Commerce
import SignedData
import StoreWire

extension RequestedOffer {
    /// Reads the offer of a request. Refusals: `offerKindUnknown`,
    /// `offerFieldMissing`, `textInvalid`, `textTooLong`, `uuidInvalid`.
    init(_ request: OfferRequest) throws {
        switch OfferKind(rawValue: request.kind) {
        case .introductory: self = .introductory(token: try Self.token(request))
        case .winBack: self = .winBack(id: try Self.id(request))
        case .code:
            self = .code(text: try Self.text(request.code, "code", OfferCode.lengthMax * 2))
        case .promotional:
            let proof: OfferProof =
                request.token == nil
                ? .signature(try Self.signature(request)) : .token(try Self.token(request))
            self = .promotional(id: try Self.id(request), proof: proof)
        case nil:
            throw Refusal(
                .badRequest, code: "offerKindUnknown", "There is no such kind of offer.",
                field: "offer.kind",
                rule: OfferKind.allCases.map { "`\($0.rawValue)`" }.joined(separator: ", "),
                remedy: "send one of them")
        }
    }

    private static func id(_ request: OfferRequest) throws -> String {
        try text(request.offerId, "offerId", Edge.textBytesMax)
    }

    private static func token(_ request: OfferRequest) throws -> String {
        try text(request.token, "token", OfferToken.bytesMax)
    }

    private static func signature(_ request: OfferRequest) throws -> OfferSignature {
        let key = try text(request.keyId, "keyId", Edge.textBytesMax)
        let nonce = try Edge.uuid(try text(request.nonce, "nonce", 64), "offer.nonce")
        guard let signedAt = request.timestamp else { throw missing("timestamp") }
        return OfferSignature(
            keyID: key, nonce: nonce, signedAt: signedAt,
            signature: try text(
                request.signature, "signature", SignedOffer.signatureBytesMax))
    }

    private static func text(_ value: String?, _ field: String, _ limit: Int) throws -> String {
        guard let value, !value.isEmpty else { throw missing(field) }
        try Edge.text(value, "offer.\(field)", bytesMax: limit)
        return value
    }

    private static func missing(_ field: String) -> Refusal {
        Refusal(
            .badRequest, code: "offerFieldMissing", "The offer lacks a field of its kind.",
            field: "offer.\(field)",
            rule: "`offerId` for promotional and win-back offers, `code` for codes, `token` for "
                + "decisions about the introductory offer; promotional offers have `token`, or "
                + "`keyId`, `nonce`, `timestamp` and `signature`",
            remedy: "send it")
    }
}
