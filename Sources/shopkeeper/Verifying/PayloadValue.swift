// SPDX-License-Identifier: Apache-2.0

import Commerce
import SignedData

/// Any JSON value, so that unknown fields are shown too.
enum PayloadValue: Codable {
    case object([String: PayloadValue])
    case array([PayloadValue])
    case text(String)
    case integer(Int64)
    case number(Double)
    case bool(Bool)
    case null

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .integer(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .text(value)
        } else if let value = try? container.decode([PayloadValue].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: PayloadValue].self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .object(let value): try container.encode(value)
        case .array(let value): try container.encode(value)
        case .text(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .bool(let value): try container.encode(value)
        case .null: try container.encodeNil()
        }
    }

    /// One line for each field: its name, its value (dates as text) and its
    /// meaning.
    func lines(indent: String) -> [String] {
        guard case .object(let members) = self else { return ["\(indent)\(plain(""))"] }
        return members.sorted { $0.key < $1.key }.flatMap { key, value in
            let meaning = FieldMeaning.words[key].map { "  (\($0))" } ?? ""
            switch value {
            case .object: return ["\(indent)\(key)\(meaning)"] + value.lines(indent: indent + "  ")
            case .array(let items):
                return ["\(indent)\(key): \(items.count) of them\(meaning)"]
                    + items.flatMap { item in
                        ["\(indent)  -"] + item.lines(indent: indent + "    ")
                    }
            default: return ["\(indent)\(key): \(value.plain(key))\(meaning)"]
            }
        }
    }

    private func plain(_ key: String) -> String {
        switch self {
        case .text(let text): text.count > 100 ? "\(text.prefix(60))… (\(text.count))" : text
        case .integer(let number):
            key.hasSuffix("Date") && (0..<253_402_300_800_000).contains(number)
                ? "\(Timestamp(milliseconds: number)) [\(number)]" : "\(number)"
        case .number(let number):
            key.hasSuffix("Date") && (0..<253_402_300_800_000).contains(number)
                ? "\(Timestamp(milliseconds: Int64(number))) [\(number)]" : "\(number)"
        case .bool(let flag): "\(flag)"
        case .null: "null"
        case .object, .array: ""
        }
    }
}

extension PayloadValue {
    /// Converts a receipt, with the names that the fields have in signed
    /// transactions.
    init(_ receipt: AppReceipt) {
        var members: [String: PayloadValue] = [
            "receiptCreationDate": .integer(receipt.creationDate.milliseconds),
            "inApp": .array(receipt.purchases.map { PayloadValue($0) }),
            "unknownAttributes": .array(receipt.unknown.map { .integer(Int64($0.type)) }),
        ]
        members["environment"] = receipt.environment.map { .text($0) }
        members["bundleId"] = receipt.bundleID.map { .text($0.value) }
        members["appAppleId"] = receipt.appItemID.map { .integer($0) }
        members["applicationVersion"] = receipt.appVersion.map { .text($0) }
        members["originalApplicationVersion"] = receipt.originalAppVersion.map { .text($0) }
        members["originalPurchaseDate"] = receipt.originalPurchaseDate.map {
            .integer($0.milliseconds)
        }
        members["expirationDate"] = receipt.expirationDate.map { .integer($0.milliseconds) }
        self = .object(members)
    }

    private init(_ purchase: ReceiptPurchase) {
        var members: [String: PayloadValue] = [
            "quantity": .integer(purchase.quantity), "productId": .text(purchase.productID.value),
            "transactionId": .text(purchase.transactionID),
            "isTrialPeriod": .bool(purchase.isTrialPeriod),
            "isInIntroOfferPeriod": .bool(purchase.isInIntroOfferPeriod),
        ]
        members["originalTransactionId"] = purchase.originalTransactionID.map { .text($0) }
        members["offerIdentifier"] = purchase.promotionalOfferID.map { .text($0) }
        members["cancellationReason"] = purchase.cancellationReason.map { .integer($0) }
        members["webOrderLineItemId"] = purchase.webOrderLineItemID.map { .integer($0) }
        let dates = [
            "purchaseDate": purchase.purchaseDate, "expiresDate": purchase.expiresDate,
            "originalPurchaseDate": purchase.originalPurchaseDate,
            "cancellationDate": purchase.cancellationDate,
        ]
        for (key, date) in dates { members[key] = date.map { .integer($0.milliseconds) } }
        self = .object(members)
    }
}
