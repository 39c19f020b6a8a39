// SPDX-License-Identifier: Apache-2.0

public import Commerce
import SignedData
import Storage
import StoreWire

extension Store {
    /// The longest request of a receipt's verification.
    public static let receiptRequestBytesMax = ReceiptDesk.requestBytesMax

    /// Verifies a receipt for a merchant's server: `POST /verifyReceipt`. Returns the JSON
    /// of a ``VerifyReceiptResponse``.
    ///
    /// `body` reads the JSON of a ``VerifyReceiptRequest``, and `bytes` is the length that
    /// it announces. `realm` is the realm that the address names; if it names none, the
    /// receipt and its shared secret select it. `environment`: the one that Apple has at
    /// the address, if the request came under one of Apple's names.
    ///
    /// The first of these that is broken determines the status: the store has time
    /// (21005), the receipt's form (21002), its signature by this store with certificates
    /// that were not revoked (21003), and what the realm checks. Refusals:
    /// `tooManyRequests`, `realmNotFound`.
    public func verifyReceipt(
        realm name: String?, at environment: Environment? = nil, bytes announced: Int? = nil,
        _ context: RequestContext, body: () async throws -> [UInt8]
    ) async throws -> [UInt8] {
        try receipts.count(context.client, at: ports.wall.now)
        var named: Realm?
        if let name { named = try await realm(named: name) }
        guard let place = receipts.admit(announced, for: context.client) else {
            ports.log(.warning, "too many receipts at once", context)
            return try await receipts.encode(VerifyReceiptResponse(.unavailable))
        }
        defer { receipts.leave(place) }
        let bytes = try await body()
        return try await receipts.encode(
            try await answer(bytes, in: place, named, at: environment, context))
    }

    private func answer(
        _ body: [UInt8], in place: WorkPlace, _ named: Realm?, at environment: Environment?,
        _ context: RequestContext
    ) async throws -> VerifyReceiptResponse {
        do {
            let (request, receipt) = try await receipts.verify(
                body, in: place, roots: try await roots(),
                revoked: Set(try await revocations().keys))
            var realm = named
            if realm == nil {
                realm = try await self.realm(
                    of: receipt, sharing: request.password, at: environment)
            }
            guard let realm else { throw Self.realmNotFound(Self.defaultRealm) }
            let answer = try await realm.merchant.answer(request, about: receipt, at: environment)
            ports.log(.info, "receipt verified", context, ["status": "0"])
            return answer
        } catch let broken as BrokenReceipt {
            let status = broken.status
            ports.log(.info, "receipt verified", context, ["status": "\(status.rawValue)"])
            return VerifyReceiptResponse(status)
        } catch let cancelled as CancellationError {
            throw cancelled
        } catch {
            ports.log(.error, "a receipt was not verified: \(error)", context)
            return VerifyReceiptResponse(.internalError)
        }
    }

    private func roots() async throws -> [[UInt8]] {
        var roots: [[UInt8]] = []
        for kind in AuthorityKind.allCases {
            if let authority = try await authorities.existing(kind) {
                roots.append(authority.root)
            }
        }
        return roots
    }

    /// Returns the realm that answers if the address names none. A receipt is asked about
    /// where it belongs: in a realm of its environment that knows its first purchase, the
    /// oldest first. The shared secret narrows the choice to the realms in which an app
    /// has it, unless none of these is the receipt's: then the secret is wrong where the
    /// receipt belongs (21004). If one of these is production's and the receipt a sandbox's,
    /// production answers that (21007), because a server asks there first.
    private func realm(
        of receipt: AuthenticReceipt, sharing secret: String?, at environment: Environment?
    ) async throws -> Realm {
        let all = try await realmsInOrder()
        let sharing = try await all.filter(sharing: secret)
        let isOfProduction = receipt.isOfProduction
        if let first = sharing.first, first.isProduction, !isOfProduction, environment == nil {
            return first
        }
        let fitting = all.filter { $0.isProduction == isOfProduction }
        let narrowed = sharing.filter { $0.isProduction == isOfProduction }
        for realm in narrowed + fitting where try await realm.merchant.knows(receipt) {
            return realm
        }
        if let first = narrowed.first { return first }
        if let first = sharing.first, environment == nil { return first }
        for realm in fitting {
            guard let bundleID = receipt.bundleID else { break }
            if try await realm.loadShelf().apps[bundleID] != nil { return realm }
        }
        return try await realm(named: Self.defaultRealm)
    }

    /// Production first, and the oldest first.
    private func realmsInOrder() async throws -> [Realm] {
        let summaries = try await realms().sorted { left, right in
            let ranks = [left, right].map { $0.environment == .production ? 0 : 1 }
            if ranks[0] != ranks[1] { return ranks[0] < ranks[1] }
            return (left.createdDate, left.name) < (right.createdDate, right.name)
        }
        var found: [Realm] = []
        for summary in summaries { found.append(try await realm(named: summary.name)) }
        return found
    }
}

extension [Realm] {
    /// Those in which an app has a shared secret.
    fileprivate func filter(sharing secret: String?) async throws -> [Realm] {
        guard let secret, secret.utf8.count == 32, !secret.utf8.contains(0) else { return [] }
        var found: [Realm] = []
        for realm in self {
            let app = try await realm.readHouse {
                try $0.first(Statement.Catalogues.appSharing, [.text(secret)])
            }
            if app != nil { found.append(realm) }
        }
        return found
    }
}
