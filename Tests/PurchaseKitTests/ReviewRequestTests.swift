// SPDX-License-Identifier: Apache-2.0

import Foundation
import PurchaseKit
import StoreWire
import Synchronization
import TestSupport
import Testing

/// Requests of the app for a review.
@Suite(.timeLimit(.minutes(5)))
struct ReviewRequestTests {
    private let rig: Rig

    init() throws { rig = try Rig() }

    private var reviews: [String] { rig.store.state.withLock { $0.reviews } }
    private var questions: [String] { rig.store.state.withLock { $0.reviewQuestions } }

    @Test func `the customer's stars and text reach the store`() async {
        rig.sheet.reviews.withLock { $0 = [SheetReview(stars: 4, text: "Fine.")] }
        rig.launch().device.requestReview()
        await until("a review", seen: "\(rig.log.lines)") { !reviews.isEmpty }

        #expect(rig.sheet.shown.lines == ["Do you enjoy Beaches? Rate it"])
        // The encoder gives the fields in any order.
        #expect(reviews.count == 1 && questions == ["{}"])
        #expect(reviews.joined().contains(#""stars":4"#))
        #expect(reviews.joined().contains(#""text":"Fine.""#))
    }

    @Test func `a sheet that the store does not want is not shown`() async {
        rig.store.state.withLock { $0.asksForReview = false }
        let device = rig.launch().device
        device.requestReview()
        await until("the question") { questions.count == 1 }
        rig.store.state.withLock { $0.asksForReview = true }
        await until("another question, when the first is answered") {
            device.requestReview()
            return questions.count > 1
        }
        await rig.sheet.shown.wait(for: "Do you enjoy Beaches?")

        #expect(rig.sheet.shown.lines.count == 1)
        #expect(reviews == [])
    }

    @Test func `a sheet that knows no reviews answers that there is none`() async {
        #expect(await SilentSheet().askForReview(SheetReviewQuestion(appName: "a")) == nil)
        #expect(
            await AutomaticSheet(.confirm).askForReview(SheetReviewQuestion(appName: "a")) == nil)
    }
}
