// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Asks the customer for a review of the app.
///
/// This store takes no reviews: a request shows nothing, and a line on standard
/// error says so. Apple's stores also promise no app that a request is shown.
/// [Apple's page](https://developer.apple.com/documentation/storekit/skstorereviewcontroller)
open class SKStoreReviewController: NSObject, @unchecked Sendable {
    public override init() {
        super.init()
    }

    open class func requestReview() {
        StandardError.say("The store takes no reviews, so the customer is not asked for one.")
    }

    /// Like ``requestReview()``. For ports that have a type of their own for scenes.
    open class func requestReview<Scene>(in windowScene: Scene) {
        requestReview()
    }
}
