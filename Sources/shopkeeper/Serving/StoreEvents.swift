// SPDX-License-Identifier: Apache-2.0

import Commerce
import Live

/// What happens in a served store, as lines for a person at a terminal: one for
/// each purchase, refusal, notification attempt and piece of due work, and for the
/// little else that changes what customers have.
enum StoreEvents {
    /// Receives what the store's log reports: a message and its facts.
    typealias Sink = @Sendable (_ message: String, _ facts: [String: String]) -> Void

    /// Prints the lines on standard output.
    static let printed: Sink = { message, facts in
        guard let line = line(message, facts, wall: Live.wallClock.now) else { return }
        PrintQueue.events.add { Output.report(line) }
    }

    /// Prints the lines on standard error, where the command that runs beside
    /// the store has standard output.
    static let complained: Sink = { message, facts in
        guard let line = line(message, facts, wall: Live.wallClock.now) else { return }
        PrintQueue.log.add { Output.complain(line) }
    }

    static let unheard: Sink = { _, _ in }

    /// Returns the line of an event that the store's log reports; nil for events that
    /// are not shown. `wall` is the machine's time.
    static func line(_ message: String, _ facts: [String: String], wall: Timestamp) -> String? {
        guard let (name, words) = event(message, facts) else { return nil }
        let time = wall.description.dropFirst("2000-01-01T".count).prefix("00:00:00".count)
        let column = name.padding(to: "notification".count)
        return "\(time)  \(column)  \(words)"
    }

    private static func event(
        _ message: String, _ facts: [String: String]
    ) -> (name: String, words: String)? {
        let customer = facts["customer"].map { "customer \($0)" }
        switch message {
        case "purchase": return ("purchase", joined(purchase(facts), customer))
        case "finished":
            return ("finished", joined(facts["transaction"].map { "transaction \($0)" }, customer))
        case "token refused": return ("refused", "Apple's door: \(facts["reason"] ?? "")")
        case "signed in": return ("sign-in", joined(customer))
        case "notification": return ("notification", notification(facts))
        case "due work": return ("due work", joined(facts["kind"], customer))
        case "clock moved": return ("clock", "moved to \(facts["now"] ?? "")")
        case "realm reset": return ("reset", "realm \(facts["realm"] ?? "")")
        case "catalogue imported": return ("catalogue", "imported")
        default: return nil
        }
    }

    private static func purchase(_ facts: [String: String]) -> String {
        let quantity = facts["quantity"].flatMap { $0 == "1" ? nil : " × \($0)" } ?? ""
        let state = facts["state"] ?? ""
        let why = facts["refusal"].map { " (\($0))" } ?? ""
        let sold = facts["transaction"].map { ", transaction \($0)" } ?? ""
        return "\(facts["product"] ?? "")\(quantity): \(state)\(why)\(sold)"
    }

    private static func notification(_ facts: [String: String]) -> String {
        let status = facts["status"].map { " (\($0))" } ?? ""
        return joined(
            "\(facts["notification"] ?? ""): \(facts["result"] ?? "")\(status)",
            facts["attempt"].map { "attempt \($0)" })
    }

    private static func joined(_ words: String?...) -> String {
        words.compactMap(\.self).joined(separator: ", ")
    }
}

extension String {
    fileprivate func padding(to count: Int) -> String {
        self + String(repeating: " ", count: max(0, count - self.count))
    }
}
