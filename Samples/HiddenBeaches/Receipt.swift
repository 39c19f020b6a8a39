// SPDX-License-Identifier: Apache-2.0

import StoreKit

/// What the app needs of its receipt. It reads the PKCS#7 container and does not
/// check the signature: an app that does not trust the device's files checks it
/// too, or sends the receipt to its server.
struct Receipt {
    struct Purchase {
        var productIdentifier = ""
        var expires: Date?
        var cancelled: Date?
    }

    private(set) var created: Date?
    private(set) var purchases: [Purchase] = []

    /// The receipt on this device. Nil if there is none that can be read.
    static func current() -> Receipt? {
        guard let url = Bundle.main.appStoreReceiptURL, let data = try? Data(contentsOf: url)
        else { return nil }
        return Receipt(data)
    }

    init?(_ data: Data) {
        // ContentInfo, SignedData, EncapsulatedContentInfo, OCTET STRING.
        guard let container = DER.first(in: Array(data)[...]),
            let signed = container.child(1)?.child(0),
            let payload = signed.child(2)?.child(1)?.child(0),
            let attributes = DER.first(in: payload.bytes)
        else { return nil }
        for (type, value) in Self.attributes(attributes) {
            switch type {
            case 12: created = Self.date(value)
            case 17: DER.first(in: value).map { purchases.append(Self.purchase($0)) }
            default: break
            }
        }
    }

    /// Whether a subscription's paid period is not over. The receipt's own date counts too:
    /// a sandbox's clock may be ahead of this machine's.
    func isActive(_ productIdentifier: String, now: Date = Date()) -> Bool {
        let now = max(now, created ?? now)
        return purchases.contains { purchase in
            purchase.productIdentifier == productIdentifier && purchase.cancelled == nil
                && purchase.expires.map { now < $0 } == true
        }
    }

    private static func purchase(_ set: DER) -> Purchase {
        var purchase = Purchase()
        for (type, value) in attributes(set) {
            switch type {
            case 1702: purchase.productIdentifier = text(value)
            case 1708: purchase.expires = date(value)
            case 1712: purchase.cancelled = date(value)
            default: break
            }
        }
        return purchase
    }

    /// Each attribute is a sequence of its type, a version and its value.
    private static func attributes(_ set: DER) -> [(Int, ArraySlice<UInt8>)] {
        set.children.compactMap { attribute in
            let parts = attribute.children
            guard parts.count == 3, parts[0].bytes.count <= 4 else { return nil }
            return (parts[0].bytes.reduce(0) { $0 << 8 | Int($1) }, parts[2].bytes)
        }
    }

    private static func text(_ value: ArraySlice<UInt8>) -> String {
        DER.first(in: value).map { String(decoding: $0.bytes, as: UTF8.self) } ?? ""
    }

    /// Missing dates are written as an empty text.
    private static func date(_ value: ArraySlice<UInt8>) -> Date? {
        let text = text(value)
        let formatter = ISO8601DateFormatter()
        if let date = formatter.date(from: text) { return date }
        formatter.formatOptions.insert(.withFractionalSeconds)
        return formatter.date(from: text)
    }
}

/// One value in DER.
struct DER {
    let bytes: ArraySlice<UInt8>
    private let end: Int

    /// The value at the beginning of `bytes`. Nil if they are cut short.
    static func first(in bytes: ArraySlice<UInt8>) -> DER? {
        guard bytes.count >= 2 else { return nil }
        var start = bytes.startIndex + 2
        var length = Int(bytes[bytes.startIndex + 1])
        if length >= 0x80 {
            let digits = length - 0x80
            guard (1...4).contains(digits), bytes.endIndex - start >= digits else { return nil }
            length = bytes[start..<start + digits].reduce(0) { $0 << 8 | Int($1) }
            start += digits
        }
        guard length <= bytes.endIndex - start else { return nil }
        return DER(bytes: bytes[start..<start + length], end: start + length)
    }

    /// The values that this one consists of.
    var children: [DER] {
        var children: [DER] = []
        var rest = bytes
        while let child = DER.first(in: rest) {
            children.append(child)
            rest = bytes[child.end...]
        }
        return children
    }

    func child(_ index: Int) -> DER? { children.dropFirst(index).first }
}
