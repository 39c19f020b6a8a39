// SPDX-License-Identifier: Apache-2.0

import StoreKit

let arguments = Array(CommandLine.arguments.dropFirst())
guard let action = Action(arguments) else {
    try? FileHandle.standardError.write(contentsOf: Data("\(Action.usage)\n".utf8))
    exit(64)
}

// There is an observer from the first moment on.
let darkroom = Darkroom()
SKPaymentQueue.default().add(darkroom)

let script = Script(action: action, darkroom: darkroom)
script.start()
RunLoop.main.run()
