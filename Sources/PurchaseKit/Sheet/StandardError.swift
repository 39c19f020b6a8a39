// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Lines for the developer, where the app's own output is not disturbed.
enum StandardError {
    static func say(_ sentence: String) {
        FileHandle.standardError.write(Data("PurchaseKit: \(sentence)\n".utf8))
    }
}
