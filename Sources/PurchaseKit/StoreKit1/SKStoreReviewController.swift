// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Asks the customer for a review of the app.
///
/// The store decides whether the customer is asked: always in a sandbox and never in a
/// beta (`DeviceConfiguration.isBeta`); otherwise at most three times in 365 days, after a
/// review only for a new version and 365 days later, and not if the customer has switched
/// requests off. The payment sheet shows the question, and one without
/// `askForReview(_:)` shows nothing. The app does not learn what happened.
/// [Apple's page](https://developer.apple.com/documentation/storekit/skstorereviewcontroller)
open class SKStoreReviewController: NSObject, @unchecked Sendable {
    public override init() {
        super.init()
    }

    open class func requestReview() {
        Device.default.requestReview()
    }

    /// Like ``requestReview()``. For ports that have a type of their own for scenes.
    open class func requestReview<Scene>(in windowScene: Scene) {
        requestReview()
    }
}
