// SPDX-License-Identifier: Apache-2.0

import PurchaseKit
import Synchronization

/// Confirms, and remembers whether what it confirmed was to be charged. A class,
/// because the device and the command share it.
final class ConfirmingSheet: PaymentSheet {
    private let charge = Mutex(true)

    /// False if the last sheet said that nothing is charged: the customer owns the
    /// product, or has an earlier purchase of it that is not complete.
    var showedCharge: Bool { charge.withLock(\.self) }

    func present(_ contents: SheetContents) async -> SheetAnswer {
        charge.withLock { $0 = contents.isCharged }
        return .confirm
    }

    func notify(_ sentence: String) async {
        await AutomaticSheet(.confirm).notify(sentence)
    }
}
