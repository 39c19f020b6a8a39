// SPDX-License-Identifier: Apache-2.0

import Commerce

extension Amount {
    /// The price as files write it: `1`, `0.99`, `1.90`, `0.125`.
    var fileText: String { milliunits % 1000 == 0 ? decimal() : decimal(decimals: 2) }
}
