// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import SignedData
import StoreWire
import StrictJSON

/// A request that a listener received, in the form in which it is printed.
struct HeardNotification: Encodable, Sendable {
    /// Whether its signature ends at a trusted root.
    var isVerified = false
    /// Why it could not be verified.
    var problem: String?
    var notification: ResponseBodyV2DecodedPayload?
    var transaction: JWSTransactionDecodedPayload?
    /// The status that the server answered to which it was forwarded.
    var forwardStatus: Int?
    /// Why it could not be forwarded.
    var forwardProblem: String?
    var signedPayload: String?

    /// Reads and verifies a body.
    init(_ body: [UInt8], by verifier: JWSVerifier?) {
        guard let read = try? StrictJSON.decode(ResponseBodyV2.self, from: body) else {
            problem = "the body is not a JSON object with a signedPayload"
            return
        }
        signedPayload = read.signedPayload
        guard let verifier else {
            problem =
                "no root certificate to check it against: start a store, name one with --data, or "
                + "give its root with --root"
            return
        }
        do throws(VerificationFailure) {
            let outer = try verifier.verify(
                read.signedPayload, as: ResponseBodyV2DecodedPayload.self,
                signedDate: \.signedDate, now: nil)
            notification = outer.payload
            if let inner = outer.payload.data?.signedTransactionInfo {
                transaction = try verifier.verify(
                    inner, as: JWSTransactionDecodedPayload.self, signedDate: \.signedDate,
                    now: nil
                ).payload
            }
            isVerified = true
        } catch {
            problem = "\(error)"
        }
    }

    /// The text for people, one line.
    var words: String {
        var words: [String] = []
        if let notification {
            words += [
                notification.signedDate.map { "\($0)" }, notification.notificationType,
                notification.subtype, notification.data?.bundleId,
                notification.data?.environment,
            ].compactMap { $0 }
        }
        if let transaction {
            words.append("\(transaction.productId ?? "?") ×\(transaction.quantity ?? 1)")
            words.append("transaction \(transaction.transactionId ?? "?")")
        }
        if let uuid = notification?.notificationUUID { words.append(uuid) }
        if let problem { words.append("NOT VERIFIED: \(problem)") }
        if let forwardStatus { words.append("→ \(forwardStatus)") }
        if let forwardProblem { words.append("→ not forwarded: \(forwardProblem)") }
        return words.joined(separator: "  ")
    }

    /// The text for programs, one line of JSON.
    func line() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return VisibleText.json(String(decoding: try encoder.encode(self), as: UTF8.self))
    }
}
