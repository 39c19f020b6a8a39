// SPDX-License-Identifier: Apache-2.0

// On Apple's platforms `import StoreKit` also makes Foundation visible, with
// URLSession, and apps depend on that.
@_exported public import Foundation
@_exported public import PurchaseKit

#if canImport(FoundationNetworking)
    @_exported public import FoundationNetworking
#endif
