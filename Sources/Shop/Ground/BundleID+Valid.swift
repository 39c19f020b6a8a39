// SPDX-License-Identifier: Apache-2.0

import Commerce

extension BundleID {
    /// Whether a text can be the id of an app: 1 to 155 letters, digits, `-` and `.`.
    static func isValid(_ text: String) -> Bool {
        (1...155).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                (97...122).contains($0) || (65...90).contains($0) || (48...57).contains($0)
                    || $0 == 45 || $0 == 46
            }
    }
}
