// SPDX-License-Identifier: Apache-2.0

public import PurchaseKit
import Synchronization

/// A payment sheet that answers as the test sets, and records what it showed. A
/// class, because the test and the device share it.
public final class TestSheet: PaymentSheet {
    private struct State {
        var answers: [SheetAnswer]
        var shown: [SheetContents] = []
        var notices: [String] = []
        var questions: [String] = []
        var codes: [String] = []
        var reviews: [SheetReview] = []
        var reviewQuestions: [SheetReviewQuestion] = []
    }

    private let state: Mutex<State>
    private let otherwise: SheetAnswer

    /// Returns `answers` one after another, then always `otherwise`.
    public init(_ answers: [SheetAnswer] = [], otherwise: SheetAnswer = .confirm) {
        state = Mutex(State(answers: answers))
        self.otherwise = otherwise
    }

    /// What it showed so far, oldest first.
    public var shown: [SheetContents] { state.withLock { $0.shown } }
    /// The notices to the customer that needed no answer.
    public var notices: [String] { state.withLock { $0.notices } }

    /// The questions that were no purchases, such as whether to restore.
    public var questions: [String] { state.withLock { $0.questions } }

    /// Sets the next answers, before those that are left.
    public func answer(next answers: SheetAnswer...) {
        state.withLock { $0.answers.insert(contentsOf: answers, at: 0) }
    }

    public func present(_ contents: SheetContents) async -> SheetAnswer {
        state.withLock { state in
            state.shown.append(contents)
            return state.answers.isEmpty ? otherwise : state.answers.removeFirst()
        }
    }

    public func ask(_ question: String) async -> SheetAnswer {
        state.withLock { state in
            state.questions.append(question)
            return state.answers.isEmpty ? otherwise : state.answers.removeFirst()
        }
    }

    public func askForConsent(_ increase: SheetPriceIncrease) async -> SheetAnswer {
        await ask(increase.question)
    }

    /// Sets the next code that the customer enters.
    public func enter(code: String) {
        state.withLock { $0.codes.append(code) }
    }

    public func askForCode() async -> String? {
        state.withLock { $0.codes.isEmpty ? nil : $0.codes.removeFirst() }
    }

    /// Sets the next review that the customer gives when asked for one.
    public func enter(review: SheetReview) {
        state.withLock { $0.reviews.append(review) }
    }

    /// The requests for a review that it showed.
    public var reviewQuestions: [SheetReviewQuestion] { state.withLock { $0.reviewQuestions } }

    public func askForReview(_ question: SheetReviewQuestion) async -> SheetReview? {
        state.withLock { state in
            state.reviewQuestions.append(question)
            return state.reviews.isEmpty ? nil : state.reviews.removeFirst()
        }
    }

    public func notify(_ sentence: String) async {
        state.withLock { $0.notices.append(sentence) }
    }
}
