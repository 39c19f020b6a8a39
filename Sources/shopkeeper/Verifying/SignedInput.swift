// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import Live
import SignedData
import StoreWire
import StrictJSON

/// Signed data in one of its usual forms.
enum SignedInput {
    case signedJSON(String)
    case receipt([UInt8])

    /// Reads a file, or standard input if `path` is `-`.
    init(_ path: String) throws {
        let handle = path == "-" ? FileHandle.standardInput : FileHandle(forReadingAtPath: path)
        let limit = SignedDataLimits.receiptBytesMax * 2
        guard let handle, let data = try? handle.read(upToCount: limit + 1) else {
            throw Failure(
                .input, "unreadable", "\(path) cannot be read.", field: "FILE",
                remedy: "name a file, or - for standard input")
        }
        guard data.count <= limit, let input = SignedInput([UInt8](data)) else {
            throw Failure(
                .input, "unreadable", "\(path) holds nothing signed.", field: "FILE",
                rule: "a compact JWS, a JSON object with signedPayload, or a receipt in DER, BER "
                    + "or Base64, of at most \(limit) bytes")
        }
        self = input
    }

    /// Nil if the bytes are not signed data.
    private init?(_ bytes: [UInt8]) {
        if bytes.first == 0x30, bytes.count > 1, bytes[1] >= 0x80 {
            self = .receipt(bytes)
            return
        }
        if let body = try? StrictJSON.decode(ResponseBodyV2.self, from: bytes) {
            self = .signedJSON(body.signedPayload)
            return
        }
        guard let whole = String(validating: bytes, as: UTF8.self) else { return nil }
        let text = whole.trimmingCharacters(in: .whitespacesAndNewlines)
        if text.contains(".") {
            self = .signedJSON(text)
        } else if let receipt = Data(base64Encoded: text, options: .ignoreUnknownCharacters),
            receipt.first == 0x30
        {
            self = .receipt([UInt8](receipt))
        } else {
            return nil
        }
    }

    func explain(roots: ([[UInt8]]) -> [[UInt8]], now: Timestamp?) -> Explanation {
        switch self {
        case .signedJSON(let compact):
            Explanation(
                signedJSON: compact, roots: roots, now: now, wall: Live.wallClock.now)
        case .receipt(let bytes): Explanation(receipt: bytes, roots: roots, now: now)
        }
    }
}
