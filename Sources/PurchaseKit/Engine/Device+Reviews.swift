// SPDX-License-Identifier: Apache-2.0

import Commerce
import StoreWire

/// Requests of the app for a review. The app never learns whether the customer was asked,
/// nor what the answer was.
extension Device {
    /// Asks the customer for a review of the app, if the store lets it. Returns at once.
    public nonisolated func requestReview() {
        post { device in Task { await device.askForReview() } }
    }

    private func askForReview() async {
        guard !isAskingForReview, !isClosed else { return }
        isAskingForReview = true
        defer { isAskingForReview = false }
        do throws(DeviceFault) {
            let session = try await signIn()
            // Nobody sees a question.
            if storeDisablesDialogs, session.environment != .production { return }
            let question = ReviewQuestion(isBeta: configuration.isBeta ? true : nil)
            let reply = try await call(.reviewRequest, in: session, body: try encode(question))
            guard reply.status == 200 else { throw refusal(reply) }
            let answer: ReviewQuestionResponse = try decode(reply)
            guard answer.asks, !isClosed else { return }
            try await show(SheetReviewQuestion(appName: answer.appName), in: session)
        } catch {
            ports.log("The customer was not asked for a review: \(error.sentence)")
        }
    }

    private func show(
        _ question: SheetReviewQuestion, in session: Session
    ) async throws(DeviceFault) {
        await sheetGate.enter()
        let review = await ports.sheet.askForReview(question)
        await sheetGate.leave()
        guard let review, !isClosed else { return }
        let body = try encode(ReviewRequest(stars: review.stars, text: review.text))
        let reply = try await call(.review, in: session, body: body)
        guard reply.status == 200 else {
            let fault = refusal(reply)
            // What the customer wrote is not lost without a word.
            await ports.sheet.notify("Your review was not sent: \(fault.sentence)")
            throw fault
        }
    }
}
