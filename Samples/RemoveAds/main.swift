// SPDX-License-Identifier: Apache-2.0

import StoreKit

let arguments = Array(CommandLine.arguments.dropFirst())
guard arguments.isEmpty || Script.verbs.contains(arguments.joined(separator: " ")) else {
    try? FileHandle.standardError.write(contentsOf: Data("\(Script.usage)\n".utf8))
    exit(64)
}

// There is an observer from the first moment on.
let store = AdStore()
SKPaymentQueue.default().add(store)

let screen = Screen(store: store)
let script = arguments.first.map { Script(verb: $0, store: store) }
if let script { script.start() } else { screen.start() }
RunLoop.main.run()
