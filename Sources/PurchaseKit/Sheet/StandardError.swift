// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation

/// Prints lines for the developer, without disturbing the app's own output.
enum StandardError {
    static func say(_ sentence: String) {
        // A full disk, or a reader that has gone, must not end the app.
        let line = Data("PurchaseKit: \(VisibleText.line(sentence))\n".utf8)
        try? FileHandle.standardError.write(contentsOf: line)
    }
}
