// SPDX-License-Identifier: Apache-2.0

import StoreKit

let arguments = Array(CommandLine.arguments.dropFirst())
let verb = Script.verb(arguments)
guard arguments.isEmpty || verb != nil else {
    try? FileHandle.standardError.write(contentsOf: Data("\(Script.usage)\n".utf8))
    exit(64)
}

let wallet: Wallet
do { wallet = try Wallet(folder: Wallet.defaultFolder) } catch {
    try? FileHandle.standardError.write(
        contentsOf:
            Data("The wallet cannot be read: \(error.localizedDescription)\n".utf8))
    exit(1)
}

// There is an observer from the first moment on.
let observer = PaymentObserver(wallet: wallet)
SKPaymentQueue.default().add(observer)

let manager = PurchaseManager()
let screen = Screen(manager: manager, wallet: wallet)
let script = verb.map { Script(verb: $0, manager: manager, wallet: wallet) }
if let script { script.start() } else { screen.start() }
RunLoop.main.run()
