// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation

/// Prints lines for the developer, without disturbing the app's own output.
enum StandardError {
    static func say(_ sentence: String) {
        FileHandle.standardError.write(Data("PurchaseKit: \(VisibleText.line(sentence))\n".utf8))
    }
}
