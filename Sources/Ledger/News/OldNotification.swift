// SPDX-License-Identifier: Apache-2.0

import Commerce
import SignedData
import StrictJSON

/// A notification of version 1, as far as the ledger reads it. None of its fields is
/// signed: only the receipt in it proves anything.
/// [Apple's page](https://developer.apple.com/documentation/appstoreservernotifications/responsebodyv1)
struct OldNotification: Sendable {
    /// The most bytes of a body, which has a receipt and up to 100 transactions.
    static let bytesMax = 2_000_000
    /// What is kept in place of the password.
    private static let hidden = Array("\"-\"".utf8)

    let type: String
    let bundleID: String?
    /// The shared secret, by which the store is recognised.
    let password: String?
    /// In Base64.
    let receipt: String
    /// The body as it came, but for the password.
    let payload: String

    /// Nil if it is not of version 1. Refusals: `textInvalid`, `notificationInvalid`.
    init?(_ body: [UInt8]) throws {
        let limits = JSONLimits(bytesMax: Self.bytesMax, depthMax: StrictJSON.depthMax)
        let place = try JSONPlace(body, limits: limits)
        guard let type = place.value.text("notification_type"),
            place.value["signedPayload"] == nil
        else { return nil }
        self.type = try Edge.text(type, "notification_type")
        bundleID = place.value.text("bid")
        password = place.value.text("password")
        let unified = place.value["unified_receipt"]?.text("latest_receipt")
        guard let receipt = unified ?? place.value.text("latest_receipt") else {
            throw LedgerRefusal(
                .badRequest, code: "notificationInvalid",
                "This notification has no receipt, so it proves nothing.",
                field: "unified_receipt.latest_receipt",
                rule: "a notification of version 1 has the newest receipt",
                remedy: "post what the store posts, or let it send version 2")
        }
        self.receipt = receipt
        payload = String(decoding: Self.hiding("password", in: body, place), as: UTF8.self)
    }

    private static func hiding(
        _ key: String, in body: [UInt8], _ place: JSONPlace
    ) -> [UInt8] {
        guard case .object(let members) = place.value,
            let index = members.firstIndex(where: { $0.key == key })
        else { return body }
        var bytes = body
        bytes.replaceSubrange(place.parts[index].bytes, with: hidden)
        return bytes
    }
}

extension JSONTree {
    /// The text for a key. Nil if the value is none.
    fileprivate func text(_ key: String) -> String? {
        if case .string(let text) = self[key] { text } else { nil }
    }
}
