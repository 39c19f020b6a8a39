// SPDX-License-Identifier: Apache-2.0

import Commerce
import Crypto
import Foundation
import Storage
public import StoreWire
import StrictJSON

extension Merchant {
    /// The most notifications on one page of the history.
    static let notificationPage = 20
    /// How far back the history can be requested.
    static let historyMilliseconds: Int64 = 180 * 86_400_000

    /// Returns the merchant's notifications that were attempted at
    /// least once, oldest first: `POST /inApps/v1/notifications/history`.
    /// `body` is the JSON of a ``NotificationHistoryRequest``. A page's token
    /// is valid only with the body for which it was issued.
    ///
    /// What was signed ahead of the realm's clock is listed too: before that clock was
    /// set back, and for a customer whose own clock is ahead. The latter is listed only if
    /// the request names a transaction of the customer. A reader that goes on from the last
    /// date that it has read would otherwise pass over everyone else's.
    ///
    /// Throws ``AppleRefusal``, in order: 4000000, 4000015, 4000016, 4000013,
    /// 4000012, 4000019, 4000018, 4000006, 4000014, 4040010.
    public func notificationHistory(
        _ body: [UInt8], paginationToken: String?
    ) async throws -> NotificationHistoryResponse {
        let question = try HistoryQuestion(body, now: now)
        let cursor = try paginationToken.map { try HistoryCursor($0, of: question) }
        let customer = try await customer(of: question.transaction)
        let values: [SQLValue] = [
            .text(bundleID.value), .integer(question.start.milliseconds),
            .integer(question.end.milliseconds),
            .integer(cursor?.signedAt.milliseconds ?? .min), .text(cursor?.uuid ?? ""),
            .optional(question.type), .optional(question.subtype), .optional(customer),
            .boolean(question.onlyFailures), .integer(Int64(Self.notificationPage + 1)),
            .integer(now.milliseconds),
        ]
        let found = try await realm.page(
            Self.notificationPage + 1, of: customer, by: { $0.isBefore($1) }
        ) { try SentNotification.read(try $0.query(Statement.Notifications.history, values)) }
        let page = found.prefix(Self.notificationPage)
        var next: HistoryCursor?
        if found.count > page.count, let last = page.last {
            next = HistoryCursor(signedAt: last.signedAt, uuid: last.uuid)
        }
        return NotificationHistoryResponse(
            notificationHistory: page.map {
                NotificationHistoryResponseItem(
                    signedPayload: $0.signedPayload, sendAttempts: $0.attempts)
            }, paginationToken: next?.token(of: question))
    }

    /// Returns the customer of a transaction. Any transaction identifies its
    /// customer.
    private func customer(of transaction: Int64?) async throws -> Int64? {
        guard let transaction else { return nil }
        let row = try await realm.read(ofNumber: transaction) {
            try $0.first(Statement.Transactions.byID, [.integer(transaction)])
        }
        guard let row, try row.text("bundle_id") == bundleID.value else {
            throw AppleRefusal(.transactionIdNotFound)
        }
        return try row.integer("customer_id")
    }
}

/// A request for the history, after all checks.
private struct HistoryQuestion: Sendable {
    let start: Timestamp
    /// Inclusive. It may be in the future.
    let end: Timestamp
    let type: String?
    let subtype: String?
    let transaction: Int64?
    let onlyFailures: Bool
    /// Identifies the body, so that a token is used only with its own.
    let digest: String

    init(_ body: [UInt8], now: Timestamp) throws {
        let request = try Self.read(body)
        guard let start = request.startDate else { throw AppleRefusal(.invalidStartDate) }
        guard let end = request.endDate else { throw AppleRefusal(.invalidEndDate) }
        guard start < end else { throw AppleRefusal(.startDateAfterEndDate) }
        guard start >= now.adding(milliseconds: -Merchant.historyMilliseconds) else {
            throw AppleRefusal(.startDateTooFarInPast)
        }
        let (type, subtype) = (request.notificationType, request.notificationSubtype)
        guard request.transactionId == nil || (type == nil && subtype == nil) else {
            throw AppleRefusal(.multipleFiltersSupplied)
        }
        guard type.map({ NotificationKind.isKnown($0, subtype: subtype) }) ?? (subtype == nil)
        else { throw AppleRefusal(.invalidNotificationType) }
        transaction = try request.transactionId.map { id in
            try Merchant.number(id)
        }
        (self.type, self.subtype) = (type, subtype)
        self.start = start
        self.end = end
        onlyFailures = request.onlyFailures ?? false
        var whole = request
        whole.onlyFailures = onlyFailures
        let canonical = try StrictJSON.encode(whole)
        digest = hexadecimal(SHA256.hash(data: Data(canonical)).prefix(8))
    }

    private static func read(_ body: [UInt8]) throws -> NotificationHistoryRequest {
        do { return try StrictJSON.decode(NotificationHistoryRequest.self, from: body) } catch {
            switch (error as? DecodingError)?.firstField {
            case "startDate": throw AppleRefusal(.invalidStartDate)
            case "endDate": throw AppleRefusal(.invalidEndDate)
            case "notificationType", "notificationSubtype":
                throw AppleRefusal(.invalidNotificationType)
            case "transactionId": throw AppleRefusal(.invalidTransactionId)
            default: throw AppleRefusal(.generalBadRequest)
            }
        }
    }
}

extension DecodingError {
    /// The field at fault, if the coding path names one.
    var firstField: String? {
        switch self {
        case .typeMismatch(_, let context), .valueNotFound(_, let context),
            .dataCorrupted(let context), .keyNotFound(_, let context):
            context.codingPath.first?.stringValue
        @unknown default: nil
        }
    }
}

/// The notification after which a page begins, and the digest of its request.
private struct HistoryCursor: Sendable {
    let signedAt: Timestamp
    let uuid: String

    init(signedAt: Timestamp, uuid: String) {
        self.signedAt = signedAt
        self.uuid = uuid
    }

    init(_ token: String, of question: HistoryQuestion) throws {
        let parts = token.split(separator: "_", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, parts[2] == question.digest,
            let milliseconds = Edge.number(parts[0]), UUIDText(parts[1])?.text == parts[1]
        else { throw AppleRefusal(.invalidPaginationToken) }
        self.init(signedAt: Timestamp(milliseconds: milliseconds), uuid: parts[1])
    }

    func token(of question: HistoryQuestion) -> String {
        "\(signedAt.milliseconds)_\(uuid)_\(question.digest)"
    }
}
