// SPDX-License-Identifier: Apache-2.0

package import Commerce
import Foundation

/// What Apple's library for servers answers about a JWS, with online checks
/// off. This is a separate model, because the library accepts some data that we
/// reject, rejects some that we accept, and checks in another order. A test
/// compares it with the library for Python, case by case.
package struct OfficialOpinion: Hashable, Sendable {
    /// The raw values are the library's.
    package enum Status: String, Sendable {
        case accepted = "OK"
        case failure = "VERIFICATION_FAILURE"
        case appIdentifier = "INVALID_APP_IDENTIFIER"
        case certificate = "INVALID_CERTIFICATE"
        case chainLength = "INVALID_CHAIN_LENGTH"
        case environment = "INVALID_ENVIRONMENT"
    }

    /// The function of the library that handles a payload.
    package enum Subject: String, Sendable {
        case transaction, notification, appTransaction, renewalInfo, realtimeRequest
    }

    /// The answer if the library is given the payload's own environment, bundle
    /// id and app number.
    package let status: Status
    package let subject: Subject
    /// The environment in the payload. Nil if it names none, or an unknown one.
    package let environment: String?
    /// The answer in an environment whose data the App Store signs.
    let whereSigned: Status

    /// Environments in which the library does not check signatures.
    private static let unsigned = [Environment.xcode, .localTesting].map(\.rawValue)

    /// `roots`: the roots that the library is given. `now`: the date of a
    /// payload without one.
    package init(_ compact: String, roots: [[UInt8]], now: Timestamp) {
        guard let token = JSONWebToken(compact) else {
            (status, whereSigned) = (.failure, .failure)
            (subject, environment) = (.transaction, nil)
            return
        }
        let facts = PayloadFacts(token.payload)
        (subject, environment) = (facts.subject, facts.environment)
        let proven = token.status(roots: roots, now: now)
        let isUnsigned = facts.environment.map(Self.unsigned.contains) ?? false
        status = isUnsigned || proven == .accepted ? facts.status : proven
        whereSigned =
            proven != .accepted ? proven : isUnsigned ? .environment : facts.status
    }

    /// The answer in one sentence.
    package var words: String {
        let given = "given the same root, bundle id and environment"
        if let environment, Self.unsigned.contains(environment) {
            return "\(status.rawValue) in environment \(environment), where they check no "
                + "signature; \(whereSigned.rawValue) in any other"
        }
        switch status {
        case .accepted: return "OK, \(given)"
        case .appIdentifier: return "\(status.rawValue): the payload does not name the app"
        case .environment: return "\(status.rawValue): the payload names no known environment"
        default: return status.rawValue
        }
    }
}

/// What a payload contains about its app and its environment.
private struct PayloadFacts {
    let subject: OfficialOpinion.Subject
    let environment: String?
    let status: OfficialOpinion.Status

    private static let environments = ["Production", "Sandbox", "Xcode", "LocalTesting"]

    init(_ payload: [String: Any]) {
        subject = Self.subject(payload)
        let place = Self.place(payload, subject)
        environment = place.environment.flatMap { Self.environments.contains($0) ? $0 : nil }
        let namesApp = subject == .renewalInfo || subject == .realtimeRequest
        let hasNumber =
            environment != "Production" || subject == .transaction || subject == .renewalInfo
            || place.appID != nil
        if !(namesApp || place.bundleID != nil) || !hasNumber {
            status = .appIdentifier
        } else {
            status = environment == nil ? .environment : .accepted
        }
    }

    private static func subject(_ payload: [String: Any]) -> OfficialOpinion.Subject {
        if payload["notificationType"] != nil { return .notification }
        if payload["receiptType"] != nil { return .appTransaction }
        if payload["requestIdentifier"] != nil { return .realtimeRequest }
        let renewal = ["autoRenewStatus", "autoRenewProductId", "expirationIntent"]
        return renewal.contains { payload[$0] != nil } ? .renewalInfo : .transaction
    }

    private struct Place {
        var bundleID: String?
        var appID: Int64?
        var environment: String?

        init(_ object: [String: Any]) {
            bundleID = object["bundleId"] as? String
            appID = (object["appAppleId"] as? NSNumber)?.int64Value
            environment = object["environment"] as? String
        }
    }

    private static func place(
        _ payload: [String: Any], _ subject: OfficialOpinion.Subject
    ) -> Place {
        var place = Place(payload)
        switch subject {
        case .appTransaction: place.environment = payload["receiptType"] as? String
        case .notification:
            let parts = ["data", "summary", "externalPurchaseToken", "appData"]
            let part = parts.first { payload[$0] is [String: Any] }
            let object = part.flatMap { payload[$0] as? [String: Any] } ?? [:]
            place = Place(object)
            if part == "externalPurchaseToken" {
                let id = object["externalPurchaseId"] as? String
                place.environment = id?.hasPrefix("SANDBOX") == true ? "Sandbox" : "Production"
            }
        default: break
        }
        return place
    }
}

/// A token as the library splits it. It accepts JSON with duplicate keys, for
/// example.
private struct JSONWebToken {
    let header: [String: Any]
    let payload: [String: Any]
    private let signature: [UInt8]
    private let compact: String

    init?(_ compact: String) {
        let parts = compact.utf8.split(
            separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Self.object(parts[0]),
            let payload = Self.object(parts[1]), let signature = Self.bytes(parts[2])
        else { return nil }
        // Header parameters that the library's token parser checks.
        if let kid = header["kid"], !(kid is String) { return nil }
        if let crit = header["crit"] {
            // The one extension that the library knows.
            guard let names = crit as? [String], !names.isEmpty,
                names.allSatisfy({ $0 == "b64" }), header["b64"] != nil
            else { return nil }
        }
        guard (header["b64"] as? Bool) != false else { return nil }
        (self.header, self.payload) = (header, payload)
        (self.signature, self.compact) = (signature, compact)
    }

    private static func object(_ segment: Substring.UTF8View) -> [String: Any]? {
        bytes(segment).flatMap { bytes in
            (try? JSONSerialization.jsonObject(with: Data(bytes))) as? [String: Any]
        }
    }

    /// Decodes a segment. Up to two padding signs are allowed if they complete
    /// the last group.
    private static func bytes(_ segment: Substring.UTF8View) -> [UInt8]? {
        let text = Array(segment)
        let padding = text.reversed().prefix { $0 == UInt8(ascii: "=") }.count
        guard padding <= 2, padding == 0 || text.count % 4 == 0 else { return nil }
        return Base64.decodeURL(text.dropLast(padding))
    }

    /// Checks header, chain, signature and claims, but not what the payload is
    /// for.
    func status(roots: [[UInt8]], now: Timestamp) -> OfficialOpinion.Status {
        guard let x5c = entries, !x5c.isEmpty, header["alg"] as? String == "ES256",
            let date = signedSeconds(now)
        else { return .failure }
        guard x5c.count == 3 else { return .chainLength }
        let ders = x5c.prefix(2).compactMap { ($0 as? String).flatMap { Data(base64Encoded: $0) } }
        let certificates = ders.compactMap { OfficialChain.parse([UInt8]($0)) }
        guard certificates.count == 2 else { return .certificate }
        let chain = OfficialChain(
            leaf: certificates[0], intermediate: certificates[1],
            roots: roots.compactMap(OfficialChain.parse))
        guard let key = chain.provenKey(at: date), isSigned(by: key), areClaimsKept(now) else {
            return .failure
        }
        return .accepted
    }

    /// The entries of `x5c`. If it is a text, the library counts its
    /// characters, and then finds that none is a certificate.
    private var entries: [Any]? {
        if let text = header["x5c"] as? String { return text.map { character in "\(character)" } }
        return header["x5c"] as? [Any]
    }

    private func isSigned(by key: OfficialChain.Key) -> Bool {
        let signed = compact.utf8.prefix(
            compact.utf8.count - compact.utf8.reversed().prefix { $0 != UInt8(ascii: ".") }.count
                - 1)
        return key.isValid(signature, of: Array(signed))
    }

    /// Nil if the library cannot turn the date into a number.
    private func signedSeconds(_ now: Timestamp) -> Double? {
        let dates = ["signedDate", "receiptCreationDate"].compactMap { payload[$0] }
            .filter { !($0 is NSNull) }
        guard let date = dates.first else { return Double(now.milliseconds / 1000) }
        if let number = date as? NSNumber { return (number.doubleValue / 1000).rounded(.down) }
        let text = (date as? String).flatMap { Int64($0) }
        return text.map { (Double($0) / 1000).rounded(.down) }
    }

    /// Whether the library, which is written in Python, takes a value for none.
    private static func isNone(_ value: Any) -> Bool {
        switch value {
        case is NSNull: true
        case let text as String: text.isEmpty
        case let list as [Any]: list.isEmpty
        case let object as [String: Any]: object.isEmpty
        case let number as NSNumber: number.doubleValue == 0
        default: false
        }
    }

    /// Checks the claims of web tokens, as the library does, although no
    /// payload of a store has them.
    private func areClaimsKept(_ now: Timestamp) -> Bool {
        let seconds = Double(now.milliseconds) / 1000
        func number(_ claim: String) -> Double?? {
            payload[claim].map { ($0 as? NSNumber)?.doubleValue }
        }
        for claim in ["sub", "jti"] where payload[claim].map({ !($0 is String) }) ?? false {
            return false
        }
        if let audience = payload["aud"], !Self.isNone(audience) { return false }
        if let expires = number("exp"), (expires ?? 0) <= seconds { return false }
        if let begins = number("nbf"), (begins ?? .infinity) > seconds { return false }
        if let issued = number("iat"), (issued ?? .infinity) > seconds { return false }
        return true
    }
}
