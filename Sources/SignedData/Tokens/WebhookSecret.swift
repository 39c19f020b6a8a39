// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation

/// The secret by which messages to a server are signed, as the specification Standard
/// Webhooks has it: `whsec_` and 24 to 64 bytes in Base64.
public struct WebhookSecret: Sendable {
    private static let prefix = "whsec_"
    private let key: SharedKey<SymmetricKey>

    /// Throws `malformed` if the text is no secret.
    public init(_ text: String) throws(VerificationFailure) {
        guard text.hasPrefix(Self.prefix),
            let bytes = Base64.decode(Array(text.utf8.dropFirst(Self.prefix.utf8.count))),
            (24...64).contains(bytes.count)
        else {
            throw VerificationFailure(
                .malformed, "a webhook's secret is whsec_ and 24 to 64 bytes in Base64")
        }
        key = SharedKey(SymmetricKey(data: bytes))
    }

    /// Returns the header `webhook-signature` of a message.
    public func signature(id: String, timestampSeconds: Int64, body: [UInt8]) -> String {
        var code = HMAC<SHA256>(key: key.value)
        code.update(data: Data("\(id).\(timestampSeconds).".utf8))
        code.update(data: Data(body))
        return "v1,\(Base64.encode(Array(code.finalize())))"
    }
}
