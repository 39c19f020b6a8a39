// SPDX-License-Identifier: Apache-2.0

// On Apple's platforms `import StoreKit` makes Foundation visible too, and
// apps lean on it.
@_exported public import Foundation
@_exported public import PurchaseKit
