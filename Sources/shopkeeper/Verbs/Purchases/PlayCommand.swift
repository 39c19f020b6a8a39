// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import Live
import Story

/// Plays a story from a file in a sandbox.
struct PlayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "play",
        abstract: "Play a story from a file, and report the first expectation that fails.",
        discussion: """
            A story has customers, purchases, jumps of the clock, commands about subscriptions \
            and expectations. It changes the sandbox like the verbs do; `exec` gives it one of \
            its own. Exits with 1 if an expectation fails, and with 65 if the file is wrong.
            """)

    @Argument(help: "The story, in YAML.") var file: String
    @Option(name: .long, help: "The most seconds to wait for a purchase or a notification.")
    var timeout = TimeLimit(60.0)
    @OptionGroup var store: StoreOptions
    @OptionGroup var printing: PrintOptions

    func run() async throws {
        let story = try Self.read(file)
        let player = try StoryPlayer(store.store(), store, timeout: timeout)
        let quiet = printing.json
        let failure = try await player.play(story) { step in
            if !quiet { Output.answer("line \(step.line): \(step.action.words)") }
        }
        let outcome = StoryOutcome(
            story: story.name, steps: story.steps.count, failure: failure)
        try printing.show(outcome, lines: outcome.lines(of: file))
        if failure != nil { throw ExitCode(ExitStatus.no.rawValue) }
    }

    private static func read(_ file: String) throws -> Story {
        guard let bytes = FileManager.default.contents(atPath: file) else {
            throw Failure(
                .input, "storyUnreadable", "\(file) cannot be read.", field: "FILE",
                remedy: "name a story in YAML")
        }
        do { return try Story(yaml: [UInt8](bytes)) } catch {
            throw Failure(
                .input, "storyInvalid",
                error.problems.map { "\(file), \($0)" }.joined(separator: "\n"), field: "FILE",
                rule: "a story as the README describes it",
                remedy: "mend the lines named and try again")
        }
    }
}

/// How a story ended.
struct StoryOutcome: Encodable {
    let story: String
    let steps: Int
    /// The first step that did not come true. Missing if all did.
    let failure: StoryFailure?

    func lines(of file: String) -> [String] {
        guard let failure else { return ["\(story): \(steps) steps, and all came true."] }
        return [
            "\(story): line \(failure.line) of \(file) did not come true.",
            "expected: \(failure.expected)", "instead:  \(failure.found)",
        ]
    }
}

/// A step that did not come true.
struct StoryFailure: Encodable, Hashable {
    let line: Int
    let expected: String
    let found: String
}

extension StoryAction {
    /// What the step does, for people.
    var words: String {
        switch self {
        case .customer(let name, _, _): "customer \(name)"
        case .buy(let product, let customer, let quantity, _):
            "\(customer ?? "the customer") buys \(quantity == 1 ? "" : "\(quantity) × ")\(product)"
        case .refund(let product, let customer):
            "\(product) is refunded to \(customer ?? "the customer")"
        case .advance(let step, _): "the clock advances by \(step)"
        case .stand(let instant): "the clock stands at \(instant)"
        case .subscription(let deed, let customer, _):
            "\(deed.rawValue) the subscription of \(customer ?? "the customer")"
        case .expect(let expectation):
            "as expected: "
                + expectation.facts.map(\.fact.subject).joined(separator: ", ")
        }
    }
}

extension ExpectedFact.Fact {
    fileprivate var subject: String {
        switch self {
        case .subscription: "subscription"
        case .transactions, .transactionCount: "transactions"
        case .notifications: "notifications"
        case .mayUse(let product, _): "use of \(product)"
        case .clock: "clock"
        }
    }
}
