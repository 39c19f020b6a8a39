// SPDX-License-Identifier: Apache-2.0

import Commerce
public import Foundation
import Synchronization

extension Device {
    /// The receipt's name in an environment. Apps recognise a sandbox by it.
    static func receiptName(in environment: Environment) -> String {
        environment == .production ? "receipt" : "sandboxReceipt"
    }

    /// Where the receipt is, or where the first one will be. Apps read the address
    /// before there is a receipt, and keep it. Nil while the file there is another
    /// customer's.
    ///
    /// Before the first sign-in, the configured environment is expected; without one, a
    /// debug build expects a sandbox, and a release build does not.
    public nonisolated var expectedReceiptURL: URL? {
        if let url = receiptURL { return url }
        guard let record = try? file.read() else { return nil }
        guard let receipt = record.receipt else {
            let guess: Environment = DeviceConfiguration.isDebugBuild ? .sandbox : .production
            let expected = environment ?? configuration.environment ?? guess
            return ports.files.url(of: Self.receiptName(in: expected))
        }
        guard let last = record.lastSignIn, last.owner == receipt.owner,
            last.name == configuration.customer
        else { return nil }
        return ports.files.url(of: receipt.path)
    }
}
