// SPDX-License-Identifier: Apache-2.0

public import Commerce
import Storage
public import StoreWire
import StrictJSON

extension Store {
    /// The longest request of a receipt's verification: the receipt of a customer with
    /// thousands of purchases.
    public static let receiptRequestBytesMax = 4 * 1024 * 1024

    /// Verifies a receipt for a merchant's server. `body` is the JSON of a
    /// ``VerifyReceiptRequest``. `realm` is the realm that the address names. If it names
    /// none, it is the one in which an app has the given shared secret, production
    /// before a sandbox; and without one the default realm. `environment`: the one that
    /// Apple has at the address, if the request came under one of Apple's names. Refusal:
    /// `realmNotFound`.
    public func verifyReceipt(
        _ body: [UInt8], realm name: String?, at environment: Environment? = nil,
        _ context: RequestContext
    ) async throws -> VerifyReceiptResponse {
        let request = try? StrictJSON.decode(
            VerifyReceiptRequest.self, from: body, bytesMax: Self.receiptRequestBytesMax)
        var found: Realm?
        if name == nil, let secret = request?.password { found = try await realm(sharing: secret) }
        if found == nil { found = try await realm(named: name ?? Self.defaultRealm) }
        guard let found else { throw Self.realmNotFound(name ?? Self.defaultRealm) }
        return await found.merchant.verifyReceipt(request, at: environment, context)
    }

    /// The realm in which an app has a shared secret. Nil if none has.
    private func realm(sharing secret: String) async throws -> Realm? {
        guard secret.utf8.count == 32, !secret.utf8.contains(0) else { return nil }
        let realms = try await realms().sorted {
            ($0.environment == .production ? 0 : 1) < ($1.environment == .production ? 0 : 1)
        }
        for summary in realms {
            let realm = try await realm(named: summary.name)
            let app = try await realm.readHouse {
                try $0.first(Statement.Catalogues.appSharing, [.text(secret)])
            }
            if app != nil { return realm }
        }
        return nil
    }
}
