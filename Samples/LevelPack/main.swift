// SPDX-License-Identifier: Apache-2.0

import StoreKit

let usage = "usage: level-pack buy | restore | continue | play STEPS"

func fail(_ sentence: String, _ code: Int32) -> Never {
    try? FileHandle.standardError.write(contentsOf: Data("\(sentence)\n".utf8))
    exit(code)
}

func end(_ error: (any Error)?) {
    if let error { fail("It failed: \(error.localizedDescription)", 1) }
    print(Level.installed() == nil ? "The level is not here." : "The Caves are yours.")
    exit(Level.installed() == nil ? 1 : 0)
}

func show(_ download: SKDownload) {
    let percent = Int(download.progress * 100)
    let seconds = download.timeRemaining
    let rest = seconds == SKDownloadTimeRemainingUnknown ? "" : ", \(Int(seconds)) s left"
    print("Downloading: \(percent) % of \(download.contentLength) bytes\(rest)")
    fflush(stdout)
}

let arguments = Array(CommandLine.arguments.dropFirst())
if arguments.count == 2, arguments[0] == "play" {
    guard let level = Level.installed() else { fail("Buy the level first.", 1) }
    for row in level.rows { print(String(row)) }
    print(level.play(arguments[1]) ? "You are out!" : "You are lost.")
    exit(0)
}
guard arguments.count == 1, ["buy", "restore", "continue"].contains(arguments[0]) else {
    fail(usage, 64)
}

// There is an observer from the first moment on.
let store = LevelStore()
store.onProgress = show
store.onEnd = end
SKPaymentQueue.default().add(store)

switch arguments[0] {
case "restore": SKPaymentQueue.default().restoreCompletedTransactions()
case "continue":
    // The queue delivers what is not finished.
    if Level.installed() != nil { end(nil) }
default:
    store.loadProduct { product, error in
        guard let product else {
            fail("The store does not sell this: \(error?.localizedDescription ?? "no product")", 1)
        }
        SKPaymentQueue.default().add(SKPayment(product: product))
    }
}
RunLoop.main.run()
