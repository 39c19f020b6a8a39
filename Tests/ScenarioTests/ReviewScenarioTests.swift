// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import PurchaseKitTesting
import StoreKit
import StoreWire
import TestSupport
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A review from the app's request to the store's page, through a real HTTP server.
@Suite(.timeLimit(.minutes(5))) struct ReviewScenarioTests {
    @Test func `what a customer says of an app is on its page, with the answer`() async throws {
        let shop = try await TestShop.monkeys()
        try await ServedShop.with(shop) { served in
            let device = try await served.device()
            device.sheet.enter(review: SheetReview(stars: 4, text: "Fine & <b>fast</b>."))
            device.device.requestReview()

            let path = "/operator/v1/apps/\(Goods.bundleID.value)/reviews"
            await until("a review") {
                (try? await served.ask(path, as: ReviewRecords.self).count) == 1
            }
            #expect(device.sheet.reviewQuestions.count == 1)
            let listed = try await served.ask(path, as: ReviewRecords.self)
            let review = try #require(listed.reviews.first)
            #expect(listed.average == "4.0" && review.text == "Fine & <b>fast</b>.")
            try await served.command(
                "PUT", path + "/\(review.customerId)/answer", AnswerReviewRequest(text: "Thanks!"))

            let page = try #require(
                URL(string: served.address + "/store/apps/\(Goods.bundleID.value)"))
            let text = String(
                decoding: try await URLSession.shared.data(from: page).0, as: UTF8.self)
            #expect(text.contains("4.0 of 5 stars, 1 review<"))
            #expect(text.contains("<strong>4 of 5</strong>"))
            #expect(text.contains("Fine &amp; &lt;b&gt;fast&lt;/b&gt;."))
            #expect(text.contains("Thanks!</blockquote>"))
            try await served.command("DELETE", path + "/\(review.customerId)")
            #expect(try await served.ask(path, as: ReviewRecords.self).count == 0)
        }
    }
}
