// SPDX-License-Identifier: Apache-2.0

import Commerce
import SignedData
import Storage
import StoreWire

/// A receipt, or the information that the device's own copy is still valid.
public enum ReceiptAnswer: Hashable, Sendable {
    case unchanged(etag: String)
    /// PKCS#7 in DER.
    case receipt([UInt8], etag: String)
}

extension PurchaseRoom {
    /// Returns the receipt of the session's customer and app, for the session's
    /// device. It is built on request from stored records, with one signature.
    /// `ifNoneMatch` is the `etag` of an earlier answer, in the format of HTTP.
    /// If nothing has changed since, no receipt is built.
    public func receipt(
        ifNoneMatch: String?, _ session: DeviceSession, _ context: RequestContext
    ) async throws -> ReceiptAnswer {
        let known = etag(of: version(revision: session.revision, session))
        if let ifNoneMatch, Self.matches(ifNoneMatch, known) { return .unchanged(etag: known) }
        let values: [SQLValue] = [
            .integer(session.customer.value), .text(session.bundleID.value),
        ]
        let rows = try await realm.read(of: session.customer) {
            try $0.query(Statement.Transactions.records, values)
        }
        guard let revision = try rows.first?.integer("revision") else {
            throw StorageFault(.malformedRow, "a customer without a row")
        }
        let version = version(revision: revision, session)
        realm.ports.log(.debug, "receipt signed", context)
        let receipt = try realm.authority.receipts.sign(
            header(session, version: version),
            records: try rows.compactMap { try $0.optionalBlob("record") })
        return .receipt(receipt, etag: etag(of: version))
    }

    private func header(_ session: DeviceSession, version: String) -> ReceiptHeader {
        var header = ReceiptHeader(
            environment: realm.description.environment.receiptType,
            bundleID: session.bundleID, appVersion: session.appVersion,
            device: bytes(hexadecimal: session.deviceUUID.filter { $0 != "-" }) ?? [],
            opaque: realm.opaque(for: "\(session.customer)/\(session.bundleID)/\(version)"),
            creationDate: session.clock.now(wall: realm.ports.wall.now))
        header.originalPurchaseDate = session.originalPurchasedAt
        header.originalAppVersion = session.originalVersion
        header.appItemID = realm.isProduction ? session.appID ?? 0 : 0
        return header
    }

    /// Changes with every commit of the customer, and when the realm or its
    /// generation changes.
    private func version(revision: Int64, _ session: DeviceSession) -> String {
        "\"\(realm.description.id).\(session.generation).\(revision)\""
    }

    /// Changes with the version, and when another certificate signs receipts: the
    /// former one may have been revoked.
    private func etag(of version: String) -> String {
        let certificate = realm.authority.issued.first { $0.role == .receipts }
        return "\(version.dropLast()).\(certificate?.serialText.prefix(12) ?? "")\""
    }

    /// Compares with the header `If-None-Match`: a list, or `*`. Weak tags
    /// match too.
    private static func matches(_ header: String, _ etag: String) -> Bool {
        header.split(separator: ",").contains { entry in
            var entry = entry.drop { $0 == " " }
            while entry.last == " " { entry.removeLast() }
            if entry.hasPrefix("W/") { entry = entry.dropFirst(2) }
            return entry == etag || entry == "*"
        }
    }
}

extension Environment {
    /// The word in receipts.
    var receiptType: String {
        [.production, .xcode].contains(self) ? rawValue : "ProductionSandbox"
    }
}
