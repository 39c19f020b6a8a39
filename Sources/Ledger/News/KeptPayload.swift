// SPDX-License-Identifier: Apache-2.0

import Commerce
import SignedData
import StoreWire
import StrictJSON

/// The contents of a kept notification: a JWS of version 2, or the JSON of version 1. They
/// were verified when they came.
struct KeptPayload {
    let text: String

    private var isOld: Bool { text.utf8.first == UInt8(ascii: "{") }

    /// The body that a copy is sent with: as the store sent it.
    func body() throws -> [UInt8] {
        isOld ? Array(text.utf8) : try StrictJSON.encode(ResponseBodyV2(signedPayload: text))
    }

    /// Whether it is about one of some purchases. `isWaiting`: it was kept before its store
    /// had said what it is about, so its root may be another one.
    func isAbout(_ keys: Set<PurchaseKey>, root: String, isWaiting: Bool) -> Bool {
        guard isOld else { return subject(root: root).map(keys.contains) ?? false }
        guard let old = try? OldNotification(Array(text.utf8)),
            let receipt = try? AppReceipt.vouched(old.receipt)
        else { return false }
        return receipt.isAbout(keys, root: isWaiting ? nil : root)
    }

    /// The purchase that one of version 2 is about.
    private func subject(root: String) -> PurchaseKey? {
        guard let data = Self.decode(text, ResponseBodyV2DecodedPayload.self)?.data,
            let signed = data.signedTransactionInfo,
            let transaction = Self.decode(signed, JWSTransactionDecodedPayload.self),
            let id = transaction.transactionId, let bundleID = transaction.bundleId,
            let environment = transaction.environment.flatMap(Environment.init(named:))
        else { return nil }
        return PurchaseKey(
            root: root, environment: environment, bundleID: bundleID, transactionID: id)
    }

    private static func decode<Value: Decodable>(_ jws: String, _ type: Value.Type) -> Value? {
        let parts = jws.utf8.split(separator: UInt8(ascii: "."))
        guard parts.count == 3, let json = Base64.decodeURL(Array(parts[1])[...]) else {
            return nil
        }
        return try? StrictJSON.decode(type, from: json)
    }
}

extension AppReceipt {
    /// The environment of its purchases, as far as it says so.
    var namedEnvironment: Environment? {
        environment.flatMap { Environment(named: Prover.environment(ofReceipt: $0)) }
    }

    /// Whether it has one of some purchases. `root`: nil if it is not known yet.
    func isAbout(_ keys: Set<PurchaseKey>, root: String?) -> Bool {
        guard let bundleID else { return false }
        let (environment, ids) = (namedEnvironment, Set(purchases.map(\.transactionID)))
        return keys.contains {
            (root.map($0.root.isSame) ?? (environment == nil || environment == $0.environment))
                && $0.bundleID.isSame(as: bundleID.value) && ids.contains($0.transactionID)
        }
    }
}
