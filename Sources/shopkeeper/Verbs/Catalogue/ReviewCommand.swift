// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import StoreWire

struct ReviewCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "review", abstract: "Customers' reviews of an app.",
        subcommands: [List.self, Answer.self, Remove.self])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List the reviews of an app, the newest first.")

        @OptionGroup var app: AppOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let (store, bundleID) = try app.found()
            var all = ReviewRecords(count: 0, average: nil, reviews: [])
            repeat {
                let page = try await store.operatorDoor.get(
                    ReviewRecord.path(of: bundleID)
                        + (all.next.map { "?after=\(DoorClient.part($0))" } ?? ""),
                    as: ReviewRecords.self)
                all = ReviewRecords(
                    count: page.count, average: page.average, reviews: all.reviews + page.reviews,
                    next: page.next)
            } while all.next != nil
            try printing.show(all, lines: Output.table(all.reviews.map(\.cells)) + [all.words])
        }
    }

    struct Answer: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "answer", abstract: "Answer a review; the answer is shown below it.",
            discussion: "It replaces an earlier answer.")

        @Argument(help: "The customer's number, from `review list`.") var customer: String
        @Argument(help: "The answer.") var text: String
        @OptionGroup var app: AppOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let (store, bundleID) = try app.found()
            let review = try await store.operatorDoor.put(
                ReviewRecord.path(customer, of: bundleID) + "/answer",
                AnswerReviewRequest(text: text), as: ReviewRecord.self)
            try printing.show(review, "Answered \(review.reviewer) (\(review.customerId)).")
        }
    }

    struct Remove: AsyncParsableCommand {
        private struct Removed: Encodable {
            let customerId: String
        }

        static let configuration = CommandConfiguration(
            commandName: "remove", abstract: "Remove a review from the store's pages.",
            discussion: "The customer can write another one.")

        @Argument(help: "The customer's number, from `review list`.") var customer: String
        @OptionGroup var app: AppOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let (store, bundleID) = try app.found()
            try await store.operatorDoor.delete(ReviewRecord.path(customer, of: bundleID))
            try printing.show(
                Removed(customerId: customer), "Removed the review of \(customer).")
        }
    }
}

extension ReviewRecord {
    fileprivate static func path(of bundleID: String) -> String {
        "/apps/\(DoorClient.part(bundleID))/reviews"
    }

    fileprivate static func path(_ customer: String, of bundleID: String) -> String {
        path(of: bundleID) + "/" + DoorClient.part(customer)
    }

    fileprivate var cells: [String] {
        [
            customerId, "\(stars) of 5", removedDate == nil ? "shown" : "removed", appVersion,
            "\(reviewedDate)", reviewer, text ?? "", answer.map { "answer: \($0)" } ?? "",
        ]
    }
}

extension ReviewRecords {
    fileprivate var words: String {
        guard let average else { return "No review is shown." }
        return "\(average) of 5, \(count) \(count == 1 ? "review" : "reviews") shown"
    }
}
