// SPDX-License-Identifier: Apache-2.0

import StoreKit

let arguments = Array(CommandLine.arguments.dropFirst())
let verb = Script.verb(arguments)
guard arguments.isEmpty || verb != nil else {
    try? FileHandle.standardError.write(contentsOf: Data("\(Script.usage)\n".utf8))
    exit(64)
}

// The delegate comes first, because it is asked when there is an observer.
let moment = ConsentMoment()
SKPaymentQueue.default().delegate = moment

// There is an observer from the first moment on.
let deliveries = Deliveries()
SKPaymentQueue.default().add(deliveries)

let kiosk = Kiosk()
let screen = Screen(kiosk: kiosk, deliveries: deliveries)
let script = verb.map { Script(verb: $0, kiosk: kiosk, deliveries: deliveries) }
if let script { script.start() } else { screen.start() }
RunLoop.main.run()
