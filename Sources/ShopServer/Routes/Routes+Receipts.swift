// SPDX-License-Identifier: Apache-2.0

import HTTPShell
import Hummingbird
import StoreWire

/// Apple's earlier protocol for merchants' servers.
extension Routes {
    static let receipts: [Route] = [
        Route("POST", "/verifyReceipt", .receipts) {
            try await $0.verifyReceipt()
        },
        Route("GET", "/verifyReceipt", .receipts) { _ in
            try .json(VerifyReceiptResponse(.notPost))
        },
    ]
}
