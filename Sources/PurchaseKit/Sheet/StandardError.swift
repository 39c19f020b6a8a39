// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation

/// Lines for the developer, where the app's own output is not disturbed.
enum StandardError {
    static func say(_ sentence: String) {
        FileHandle.standardError.write(Data("PurchaseKit: \(VisibleText.line(sentence))\n".utf8))
    }
}
