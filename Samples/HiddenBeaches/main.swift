// SPDX-License-Identifier: Apache-2.0

import StoreKit

let arguments = Array(CommandLine.arguments.dropFirst())
let verb = Script.verb(arguments)
guard arguments.isEmpty || verb != nil else {
    try? FileHandle.standardError.write(contentsOf: Data("\(Script.usage)\n".utf8))
    exit(64)
}

Launching.register()

// There is an observer from the first moment on.
let server = GameServer.configured()
let store = BeachStore(server: server)
SKPaymentQueue.default().add(store)

let screen = Screen(store: store)
let script = verb.map { Script(verb: $0, store: store) }
if let script { script.start() } else { screen.start() }
server.watch()
RunLoop.main.run()
