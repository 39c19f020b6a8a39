// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage

extension SQLValue {
    static func optional(_ instant: Timestamp?) -> SQLValue { .optional(instant?.milliseconds) }
}
