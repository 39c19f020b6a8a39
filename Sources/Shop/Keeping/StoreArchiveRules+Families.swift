// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage

/// The rules that concern several values of a family's rows in a backup.
enum FamilyArchiveRules {
    /// A person in a family has joined it, and one in none shares nothing.
    static func person(_ row: Row) -> BrokenRule? {
        broken("organiser_id", "present with `joined_at`, and alone without `shares_since`") {
            let person = try FamilyPersonRow(row: row).person
            return (person.organiser == nil) == (person.joinedAt == nil)
                && (person.organiser != nil || person.sharesSince == nil)
        }
    }

    /// Checks that the columns are a share as a store writes it.
    static func share(_ row: Row) -> BrokenRule? {
        broken("state", "null, or a subscription as a store writes it") {
            guard let text = try row.optionalText("state") else { return true }
            let state: Subscription = try StoredJSON.value(text, "a subscription")
            return StoredJSON.text(state) == text
        }
            ?? broken("ended_at", "present if there is an `ending`, and only then") {
                try (row.value("ended_at") == .null) == (row.value("ending") == .null)
            }
    }

    /// Checks that the other columns repeat the event.
    static func event(_ row: Row) -> BrokenRule? {
        broken("body", "an event as a store writes it, which the other columns repeat") {
            let text = try row.text("body")
            let event: FamilyEvent = try StoredJSON.value(text, "an event")
            return try StoredJSON.text(event) == text
                && event.at.milliseconds == row.integer("happened_at")
                && event.cause.rawValue == row.text("cause")
        }
            ?? broken("change", "present for a change of the customer's place, and only then") {
                let event: FamilyEvent = try StoredJSON.value(try row.text("body"), "an event")
                guard case .place = event.change else {
                    return try row.value("change") == .null
                }
                return try row.value("change") != .null
            }
    }

    /// Checks the subject and the lane of an errand.
    static func errand(_ row: Row) -> BrokenRule? {
        broken("subject", "what an errand of this kind names") {
            let subject = try row.text("subject")
            switch try row.text("kind") {
            case WorkKind.family: return Edge.number(subject) != nil
            case WorkKind.familyChange:
                return FamilyChangeKey(subject: subject)?.subject == subject
            default: return try row.integer("customer_id") == 0
            }
        }
            ?? broken("lane", "`\(WorkKind.familyLane)` for errands of this kind") {
                try row.text("lane") == WorkKind.familyLane
            }
    }

    /// Returns the rule if `body` returns false or throws.
    private static func broken(
        _ column: String, _ words: String, unless body: () throws -> Bool
    ) -> BrokenRule? {
        (try? body()) == true ? nil : BrokenRule(column, words)
    }
}
