// SPDX-License-Identifier: Apache-2.0

import Storage

extension StorageFault {
    /// Whether the database rejected the rows and will reject them again.
    /// Otherwise it did not answer or has no room.
    var isRefusal: Bool {
        [.constraint, .malformedRow, .parameters, .invalidText, .engine].contains(code)
    }
}
