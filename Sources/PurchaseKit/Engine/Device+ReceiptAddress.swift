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

    /// Fetches the receipt once in a launch if another customer's stands in its place, or if
    /// it is gone although there are transactions to deliver. It comes before these, because
    /// apps read it when they hear of them. Without the store they are delivered without it.
    func lookForReceipt(_ session: Session) async {
        guard isReceiptMissing(session.owner),
            receiptsLookedFor.insert(session.owner).inserted
        else { return }
        do throws(DeviceFault) {
            try await withReceipt(of: session.owner, isFresh: true) {
                (receipt, files, fits) throws(DeviceFault) in
                let restoration = Restoration(
                    owner: session.owner, launch: self.launch, items: [], receipt: receipt)
                try self.change(.restored(restoration), with: files, onlyIf: fits)
            }
        } catch {
            receiptsLookedFor.remove(session.owner)
            sayOnce("The receipt could not be fetched: \(error.sentence)")
        }
    }

    private func isReceiptMissing(_ owner: Owner) -> Bool {
        guard let record else { return false }
        guard let receipt = record.receipt else {
            return record.entries.contains { $0.owner == owner && $0.isOwedToApp }
        }
        guard receipt.owner == owner else { return true }
        return (try? ports.files.read(receipt.path, atMost: 1))?.isEmpty ?? true
    }
}
