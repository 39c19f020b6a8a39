// SPDX-License-Identifier: Apache-2.0

import StoreKit

#if os(Linux)
    extension Bundle {
        /// Foundation's own property has no answer on this platform. In the app's
        /// module, this one is used instead.
        var appStoreReceiptURL: URL? { Device.default.expectedReceiptURL }
    }
#endif
