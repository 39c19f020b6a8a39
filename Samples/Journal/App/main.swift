// SPDX-License-Identifier: Apache-2.0

import StoreKit

let arguments = Array(CommandLine.arguments.dropFirst())
let server = JournalServer.configured
let store = CommentStore(server: server)
let script = Script(arguments, store: store, server: server)
guard arguments.isEmpty || script != nil else {
    try? FileHandle.standardError.write(contentsOf: Data("\(Script.usage)\n".utf8))
    exit(64)
}

// There is an observer from the first moment on.
SKPaymentQueue.default().add(store)

let screen = Screen(store: store, server: server, journal: "travels")
if let script { script.start() } else { screen.start() }
RunLoop.main.run()
