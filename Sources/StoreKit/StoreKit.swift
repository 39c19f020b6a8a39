// SPDX-License-Identifier: Apache-2.0

// On Apple's platforms `import StoreKit` also makes Foundation visible, and
// apps depend on that.
@_exported public import Foundation
@_exported public import PurchaseKit
