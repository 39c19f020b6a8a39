// SPDX-License-Identifier: Apache-2.0

import CryptoExtras
import X509

/// Signs app receipts: PKCS#7 over the records of a receipt.
public struct ReceiptSigner: Sendable {
    private let key: _RSA.Signing.PrivateKey
    private let leaf: Certificate
    private let chain: [[UInt8]]

    /// `chain`: leaf, intermediate, root, in DER.
    init(key: _RSA.Signing.PrivateKey, leaf: Certificate, chain: [[UInt8]]) throws {
        self.key = key
        self.leaf = leaf
        self.chain = chain
    }
}
