// SPDX-License-Identifier: Apache-2.0

import Commerce

/// The words for the kinds of realms, in the data that they sign.
enum Environments {
    static let sandbox = "Sandbox"
    static let production = "Production"
}

extension BundleID {
    static func isValid(_ text: String) -> Bool {
        (1...155).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                (97...122).contains($0) || (65...90).contains($0) || (48...57).contains($0)
                    || $0 == 45 || $0 == 46
            }
    }
}
