// SPDX-License-Identifier: Apache-2.0

import Commerce
import Crypto
import Foundation

/// A place in the order in which a customer's transactions last changed: a revision of
/// the customer, and a transaction.
struct HistoryPlace: Hashable, Sendable {
    let revision: Int64
    let transaction: Int64

    /// Before everything.
    static let first = HistoryPlace(revision: -1, transaction: 0)
    /// After everything.
    static let last = HistoryPlace(revision: .max, transaction: .max)

    init(revision: Int64, transaction: Int64) {
        (self.revision, self.transaction) = (revision, transaction)
    }

    init(_ facts: TransactionFacts) {
        self.init(revision: facts.revision, transaction: facts.id.value)
    }
}

/// How far a customer's history has come, and in which generation of the realm.
struct HistoryReach: Hashable, Sendable {
    let generation: Int64
    let revision: Int64
}

/// Whose list a merchant's server reads, of which app, and with which filters: the same
/// for each page, and for what is asked for later.
struct ListQuestion: Sendable {
    /// Identifies it, so that a revision is used only with its own.
    let digest: String

    /// `filter`: what is asked for, as one text.
    init(_ customer: CustomerID, _ bundleID: BundleID, filter: String) {
        let canonical = "\(customer) \(bundleID) \(filter)"
        digest = hexadecimal(SHA256.hash(data: Data(canonical.utf8)).prefix(8))
    }
}

/// What merchants call a revision: the place at which a list goes on. It is valid only for
/// the list, for the question, and in the generation that it was given out for. Another
/// customer's place says nothing, and with another filter entries would be skipped. A
/// restore or a loaded snapshot sets customers' revisions back, and the same revisions then
/// stand for other commits.
struct HistoryToken: Hashable, Sendable {
    /// The lists, each with the letter that its tokens begin with.
    enum List: String, Sendable {
        case ascending = "a"
        case descending = "d"
        case refunds = "r"

        /// Where the list begins.
        var start: HistoryPlace { self == .descending ? .last : .first }
    }

    let list: List
    let place: HistoryPlace
    /// Nil for a token that a program without generations in tokens gave out.
    private let generation: Int64?
    /// Of the question. Nil for a token that a program without digests in tokens gave out.
    private let digest: String?

    init(
        _ list: List, _ place: HistoryPlace, generation: Int64, of question: ListQuestion
    ) {
        (self.list, self.place, self.generation) = (list, place, generation)
        digest = question.digest
    }

    /// Parses the ``text`` of a token of this list. Nil if it is none.
    init?(_ text: String, of list: List) {
        var parts = text.split(separator: "_", omittingEmptySubsequences: false)
            .map(String.init)
        guard parts.removeFirst() == list.rawValue else { return nil }
        digest = parts.count == 4 ? parts.removeLast() : nil
        if parts.count == 3 {
            guard let number = Edge.number(parts.removeFirst()) else { return nil }
            generation = number
        } else {
            // Refunds had dates for revisions then, which say nothing now.
            guard list != .refunds else { return nil }
            generation = nil
        }
        guard parts.count == 2, let transaction = Edge.number(parts[1]),
            let revision = parts[0] == Self.nothing ? -1 : Edge.number(parts[0])
        else { return nil }
        self.list = list
        place = HistoryPlace(revision: revision, transaction: transaction)
    }

    var text: String {
        let revision = place.revision < 0 ? Self.nothing : "\(place.revision)"
        let numbers = "\(revision)_\(place.transaction)"
        let place = "\(generation.map { "\($0)_" } ?? "")\(numbers)"
        return "\(list.rawValue)_\(place)\(digest.map { "_\($0)" } ?? "")"
    }

    private static let nothing = "none"

    /// Whether the list of a question can go on here: a place that the history has not
    /// reached belongs to what a restore or a loaded snapshot has undone.
    func isValid(in reach: HistoryReach, for question: ListQuestion) -> Bool {
        (generation ?? reach.generation) == reach.generation
            && (digest ?? question.digest) == question.digest
            && (place.revision <= reach.revision || place == list.start)
    }
}
