// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// The service behind a subscription to games. This store has none. The name exists so
/// that code which mentions it compiles.
/// [Apple's page](https://developer.apple.com/documentation/storekit/skarcadeservice)
open class SKArcadeService: NSObject {
    /// Does nothing: there is nothing to repair.
    open class func repairArcadeApp() {}
}
