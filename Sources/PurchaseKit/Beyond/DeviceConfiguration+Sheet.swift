// SPDX-License-Identifier: Apache-2.0

extension DeviceConfiguration {
    /// The chosen payment sheet. If the automatic choice is not the terminal,
    /// this is reported.
    var paymentSheet: any PaymentSheet {
        switch sheet {
        case .custom(let sheet): return sheet
        case .terminal: return TerminalSheet()
        case .confirm: return AutomaticSheet(.confirm, code: code)
        case .cancel: return AutomaticSheet(.cancel)
        case .automatic:
            if TerminalSheet.isAvailable { return TerminalSheet() }
            StandardError.say(
                "there is no terminal for the payment sheet: payments are confirmed by themselves "
                    + "(SHOPKEEPER_SHEET=cancel refuses them)")
            return AutomaticSheet(.confirm, code: code)
        }
    }
}
