// SPDX-License-Identifier: Apache-2.0

import Crypto
import StrictJSON

/// Signs payloads as compact JWS with ES256 and with three certificates in the
/// header's `x5c`, as the App Store does.
public struct JWSSigner: Sendable {
    private let key: SharedKey<P256.Signing.PrivateKey>
    /// The encoded header and the dot after it, the same for every payload.
    private let prefix: JWSPrefix

    /// `chain`: leaf, intermediate and root in DER.
    init(key: P256.Signing.PrivateKey, chain: [[UInt8]]) {
        self.key = SharedKey(key)
        let certificates = chain.map { "\"\(Base64.encode($0))\"" }.joined(separator: ",")
        let header = "{\"alg\":\"ES256\",\"x5c\":[\(certificates)]}"
        prefix = JWSPrefix(header: Array(header.utf8))
    }

    /// Signs the bytes of a JSON object, which must already contain its date.
    public func sign(payload: [UInt8]) throws -> String {
        try CompactJWS.sign(prefix: prefix, payload: payload, by: key.value)
    }

    /// Signs a value as JSON with sorted keys, without absent values, with
    /// unescaped slashes and with dates in whole milliseconds.
    public func sign(_ payload: some Encodable) throws -> String {
        try sign(payload: StrictJSON.encode(payload))
    }
}
