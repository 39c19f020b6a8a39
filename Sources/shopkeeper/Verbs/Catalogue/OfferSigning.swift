// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Commerce
import Foundation
import Live
import SignedData
import StoreWire

/// The merchant's key for signing offers.
struct SigningOptions: ParsableArguments {
    @Option(name: .long, help: "The id of the server key, from `key create`.") var keyId: String?
    @Option(name: .long, help: "The file with its private half, .p8.") var privateKey: String?
    @Option(name: .long, help: "Its issuer: signs a token (JWS) instead of the older form.")
    var issuer: String?

    /// Signs an offer for one payment, as a merchant's server does.
    func sign(
        _ offer: String, product: String, of bundleID: String, username: String?
    ) throws -> OfferRequest {
        guard let keyId, let privateKey else {
            throw Failure(
                .usage, "keyMissing", "An offer is signed with a server key.",
                field: "--private-key", rule: "--key-id and --private-key, from `key create`",
                remedy: "give both")
        }
        guard let pem = try? String(contentsOfFile: privateKey, encoding: .utf8) else {
            throw Failure(
                .input, "keyUnreadable", "The key file \(privateKey) cannot be read.",
                field: "--private-key", rule: "a P-256 key in PKCS#8 PEM (.p8)",
                remedy: "write there what `key create` printed")
        }
        let now = Live.wallClock.now
        guard let nonce = UUIDText(Live.randomness.uuid()) else {
            throw Failure(.bug, "bug", "The system's UUID is none.")
        }
        do {
            if let issuer {
                let claims = OfferToken.Claims(
                    issuerID: issuer, bundleID: BundleID(bundleID),
                    productID: ProductID(product), offerID: offer, nonce: nonce, at: now)
                return OfferRequest(
                    kind: OfferKind.promotional.rawValue, offerId: offer,
                    token: try OfferToken.sign(
                        claims, for: .promotional, keyID: keyId, privateKeyPEM: pem))
            }
            let signed = SignedOffer(
                bundleID: BundleID(bundleID), keyID: keyId, productID: ProductID(product),
                offerID: offer, username: username, nonce: nonce, signedAt: now)
            return OfferRequest(
                kind: OfferKind.promotional.rawValue, offerId: offer, keyId: keyId,
                nonce: nonce.text, timestamp: now,
                signature: try signed.signature(privateKeyPEM: pem))
        } catch let failure as VerificationFailure {
            throw Failure(
                .input, "keyInvalid", "The key cannot sign: \(failure).", field: "--private-key",
                rule: "a P-256 key in PKCS#8 PEM (.p8)",
                remedy: "write there what `key create` printed")
        }
    }
}

struct OfferSignCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign", abstract: "Sign a promotional offer, as a merchant's server does.",
        discussion: """
            Prints the offer of a payment, in the older form, or with --issuer as a token. Each \
            one can be used for one payment, within 24 hours.
            """)

    @Argument(help: "The subscription.") var product: String
    @Argument(help: "The promotional offer's id.") var offer: String
    @Option(name: .long, help: "The app's own name for its user.") var username: String?
    @Option(name: .long, help: "The app; default: the served one.") var bundleId: String?
    @OptionGroup var signing: SigningOptions
    @OptionGroup var store: StoreOptions
    @OptionGroup var printing: PrintOptions

    func run() async throws {
        let app = try bundleId ?? store.store().run.bundleId
        let signed = try signing.sign(offer, product: product, of: app, username: username)
        let lines = [
            ("keyId", signed.keyId), ("nonce", signed.nonce),
            ("timestamp", signed.timestamp.map { String($0.milliseconds) }),
            ("signature", signed.signature), ("token", signed.token),
        ].compactMap { name, value in value.map { "\(name) \($0)" } }
        try printing.show(signed, lines: lines)
    }
}
