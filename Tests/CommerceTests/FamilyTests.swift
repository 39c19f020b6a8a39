// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Commerce

/// Who is in a family, and what its members get from each other.
@Suite(.unforgiven, .timeLimit(.minutes(5))) struct FamilyTests {
    private static let (ann, ben, cat) = (CustomerID(1), CustomerID(2), CustomerID(3))

    static func at(_ n: Int64) -> Timestamp { Timestamp(milliseconds: n) }

    private static func person(
        _ customer: CustomerID, in organiser: CustomerID? = nil
    ) -> FamilyPerson {
        FamilyPerson(
            customer: customer, organiser: organiser, joinedAt: organiser.map { _ in at(1) },
            sharesSince: organiser.map { _ in at(1) })
    }

    // MARK: Places

    @Test func `the first member begins the family, with its organiser`() throws {
        let made = try FamilyRules.joining(
            Self.person(Self.ben), to: Self.person(Self.ann), people: 0, at: Self.at(7))
        #expect(made.map(\.person.customer) == [Self.ann, Self.ben])
        #expect(made.allSatisfy { $0.kind == .joined && $0.person.organiser == Self.ann })
        #expect(made.allSatisfy { $0.person.sharesSince == Self.at(7) })
    }

    private static let joinings = """
        member   organiser  people  answer
        1:-      1:-        0       sameCustomer
        2:-      1:3        0       notOrganiser
        2:3      1:-        0       inAnotherFamily
        2:3      1:1        2       inAnotherFamily
        2:2      1:-        0       inAnotherFamily
        2:1      1:1        2       nothing
        2:1      1:1        6       nothing
        2:-      1:1        6       familyFull
        2:-      1:1        5       one
        2:-      1:-        0       two
        """

    /// People are written as `number:organiser`.
    @Test(arguments: joinings.split(separator: "\n").dropFirst().map(String.init))
    func `a person joins one family`(line: String) {
        let words = line.split(separator: " ").map(String.init)
        func person(_ word: String) -> FamilyPerson {
            let parts = word.split(separator: ":").map { Int64($0).map { CustomerID($0) } }
            return Self.person(parts[0] ?? Self.ann, in: parts[1])
        }
        var answer: String
        do throws(FamilyRefusal) {
            let made = try FamilyRules.joining(
                person(words[0]), to: person(words[1]), people: Int(words[2]) ?? 0,
                at: Self.at(9))
            answer = ["nothing", "one", "two"][made.count]
        } catch { answer = error.rawValue }
        #expect(answer == words[3])
    }

    @Test func `a member leaves alone, and an organiser with everybody`() throws {
        let people = [Self.ann, Self.ben, Self.cat].map { Self.person($0, in: Self.ann) }
        let left = try FamilyRules.leaving(people[1], from: Self.ann, people: people)
        #expect(left.map(\.kind) == [.left] && left[0].person.organiser == nil)
        let gone = try FamilyRules.leaving(people[0], from: Self.ann, people: people)
        #expect(gone.map(\.kind) == [.dissolved, .dissolved, .dissolved])
        #expect(throws: FamilyRefusal.notInFamily) {
            try FamilyRules.leaving(Self.person(Self.ben), from: Self.ann, people: people)
        }
    }

    @Test func `sharing is switched once`() throws {
        let ben = Self.person(Self.ben, in: Self.ann)
        #expect(try FamilyRules.sharing(ben, isOn: true, at: Self.at(5)) == [])
        let off = try FamilyRules.sharing(ben, isOn: false, at: Self.at(5))
        #expect(off.map(\.kind) == [.sharingOff] && off[0].person.sharesSince == nil)
        #expect(try FamilyRules.sharing(off[0].person, isOn: false, at: Self.at(6)) == [])
        let on = try FamilyRules.sharing(off[0].person, isOn: true, at: Self.at(8))
        #expect(on[0].person.since(for: Self.person(Self.cat, in: Self.ann)) == Self.at(8))
        #expect(on[0].person.since(for: Self.person(Self.cat, in: Self.cat)) == nil)
        #expect(on[0].person.since(for: on[0].person) == nil)
    }

    // MARK: What is shared

    /// The purchaser's sales as `id:from-to` with `^` for upgraded, `!` for revoked and
    /// `~` for a product that is not shareable; what the member had before, as
    /// `id` with the first letter of its ending; since when the purchaser shares; and the
    /// steps: `+id` given, `-id` ended with its ending, `=id` not refunded any more.
    private static let table = """
        sales                   had        since  now  steps
        1:5                     none       2      9    +1product@5
        1:1                     none       2      9    +1product@2
        1:5~                    none       2      9    nothing
        1:5!                    none       2      9    nothing
        1:5                     1          2      9    nothing
        1:5!                    1          2      9    -1refunded
        1:5                     1          -      9    -1left
        1:5                     1l         2      9    +1product@9
        1:5!                    1l         2      9    nothing
        1:5                     1r         2      9    +1product@9
        none                    1          2      9    -1cleared
        1:1-4                   none       2      9    +1first@2
        1:1-4                   none       5      9    nothing
        1:1-4,2:4-8,3:8-12      none       2      9    +1first@2,-1renewed,+2renewal@4,-2renewed,+3renewal@8
        1:1-4,2:4-8,3:8-12      none       7      9    +2first@7,-2renewed,+3renewal@8
        1:1-4,2:4-8             1          2      5    -1renewed,+2renewal@4
        1:1-4,2:4-8             1n,2       -      3    -1left,-2left
        1:1-4,2:4-8             1n,2       -      5    -2left
        1:1-4^,2:3-8            1          2      5    -1upgraded,+2again@3
        1:1-4^,2:3-8~           1          2      5    -1unshared
        1:1-4^,2:3-8~,3:9-2     1          2      5    -1unshared
        1:1-4!                  1n         2      5    -1refunded
        1:1-6                   1          2      3    1to6
        1:1-4!,2:4-8            1n,2       2      5    -1refunded
        1:1-4,2:4-8             1r,2       2      5    =1renewed
        1:1-4,2:4-8             1r,2       4      5    nothing
        1:1-4                   1r         2      9    =1expired
        1:1-4^,2:3-8            1r,2       2      5    =1upgraded
        1:1-4~                  1r         2      9    nothing
        1:1-4x                  1          2      9    -1expired
        1:1-4x                  1e         2      9    nothing
        1:1-4x                  1l         2      9    nothing
        """

    @Test(arguments: table.split(separator: "\n").dropFirst().map(String.init))
    func `a member has what the purchaser shares`(line: String) throws {
        let words = line.split(separator: " ").map(String.init)
        let sharing = Self.sharing(words[0], since: words[2])
        let shares = words[1] == "none" ? [] : words[1].split(separator: ",").map(Self.share)
        let now = Self.at(try #require(Int64(words[3])))

        let steps = sharing.steps(from: shares, at: now)

        let shown = Self.words(steps, shares).joined(separator: ",")
        #expect((shown.isEmpty ? "nothing" : shown) == words[4])
        var again = sharing
        again.seen = 100
        #expect(again.steps(from: Self.after(steps, shares), at: now) == [])
    }

    @Test func `a member who bought the product keeps the own one`() {
        var sharing = Self.sharing("1:5", since: "2")
        sharing.owned = [TransactionID(1)]
        #expect(sharing.steps(from: [], at: Self.at(9)) == [])
    }

    @Test func `a sale that was considered before is given only if it can be used`() {
        var sharing = Self.sharing("1:3-6,2:6-12", since: "2")
        sharing.seen = 100
        let steps = sharing.steps(from: [], at: Self.at(9))
        #expect(Self.words(steps, []) == ["+2first@6"])
    }

    @Test(arguments: ProductType.allCases)
    func `consumables and non-renewing subscriptions are never shared`(type: ProductType) {
        #expect(
            FamilySharing.isShared(type) == [.nonConsumable, .autoRenewable].contains(type))
        let sale = FamilySale(
            id: TransactionID(1), originalID: TransactionID(1), productID: "a", type: type,
            purchasedAt: Self.at(5), isShareable: true, revision: 1)
        let sharing = FamilySharing(sales: [sale], since: Self.at(1), isOneFamily: true)
        #expect(sharing.steps(from: [], at: Self.at(9)).isEmpty != FamilySharing.isShared(type))
    }

    /// Sale 2 was charged ahead for the time from 8 on, and the subscription was ended at 5.
    @Test func `what was ended before it began keeps no later purchase away`() {
        var sharing = Self.sharing("1:0-4,2:8-5,3:5-9", since: "0")
        sharing.seen = 2
        let shares = [
            FamilyShare(
                saleID: TransactionID(1), originalID: TransactionID(1), endsAt: Self.at(4),
                ending: .renewed),
            FamilyShare(
                saleID: TransactionID(2), originalID: TransactionID(1), endsAt: Self.at(5)),
        ]

        let steps = Self.words(sharing.steps(from: shares, at: Self.at(5)), shares)

        #expect(steps == ["-2renewed", "+3renewal@5"])
    }

    /// Whatever happens in whatever order, a member never has two open shares of one sale,
    /// and a second look finds nothing to do.
    @Test(arguments: 0..<200) func `a second look finds nothing to do`(seed: UInt64) {
        var random = SeededGenerator(seed)
        var shares: [FamilyShare] = []
        for now in Int64(1)...30 {
            let sales = (0..<min(Int(random.next() % 5), Int(now / 6) + 1)).map { n in
                let start = Int64(n) * 6
                let marks = ["", "", "", "^", "!", "~"]
                return "\(n + 1):\(start)-\(start + 6)" + marks[Int(random.next() % 6)]
            }
            var sharing = Self.sharing(
                sales.isEmpty ? "none" : sales.joined(separator: ","),
                since: random.next() % 4 == 0 ? "-" : "\(random.next() % UInt64(now + 1))")
            let steps = sharing.steps(from: shares, at: Self.at(now))
            shares = Self.after(steps, shares)
            sharing.seen = 100
            #expect(sharing.steps(from: shares, at: Self.at(now)) == [])
            let open = shares.filter { $0.ending == nil }.map(\.saleID)
            #expect(Set(open).count == open.count && open.count <= 1)
        }
    }
}

extension FamilyTests {
    static func sharing(_ text: String, since: String) -> FamilySharing {
        let words = text == "none" ? [] : text.split(separator: ",").map(String.init)
        let first = words.first.flatMap { Int64($0.prefix { $0 != ":" }) } ?? 1
        var sharing = FamilySharing(
            sales: [], since: Int64(since).map { at($0) }, isOneFamily: false)
        for word in words {
            let parts = word.trimmingMarks.split(separator: ":").map(String.init)
            let dates = parts[1].split(separator: "-").compactMap { Int64($0) }
            let id = TransactionID(Int64(parts[0]) ?? 0)
            let isPeriod = dates.count == 2
            sharing.sales.append(
                FamilySale(
                    id: id, originalID: TransactionID(isPeriod ? first : id.value),
                    productID: "a", type: isPeriod ? .autoRenewable : .nonConsumable,
                    isRenewal: id.value != first && !words.contains { $0.hasSuffix("^") },
                    purchasedAt: at(dates[0]), endsAt: isPeriod ? at(dates[1]) : nil,
                    isUpgraded: word.hasSuffix("^"),
                    revokedAt: word.hasSuffix("!") ? at(dates[0] + 1) : nil,
                    isShareable: !word.hasSuffix("~"), revision: id.value))
            if word.hasSuffix("x") { sharing.expired[TransactionID(first)] = at(dates[1]) }
        }
        return sharing
    }

    static func share(_ word: Substring) -> FamilyShare {
        let endings: [Character: FamilyShare.Ending] = [
            "l": .left, "r": .refunded, "n": .renewed, "e": .expired,
        ]
        let id = TransactionID(Int64(word.prefix { $0.isNumber }) ?? 0)
        let ends: [Int64: Timestamp] = [1: at(4), 2: at(8)]
        return FamilyShare(
            saleID: id, originalID: TransactionID(1), endsAt: ends[id.value],
            ending: word.last.flatMap { endings[$0] })
    }

    static func words(_ steps: [FamilyStep], _ shares: [FamilyShare]) -> [String] {
        var ids = shares.map(\.saleID)
        return steps.map { step in
            switch step {
            case .granted(let sale, let instant, let kind):
                ids.append(sale.id)
                return "+\(sale.id)\(kind)@\(instant.milliseconds)"
            case .ended(let place, let ending, _): return "-\(ids[place])\(ending)"
            case .reinstated(let place, let ending, _): return "=\(ids[place])\(ending)"
            case .moved(let place, let end): return "\(ids[place])to\(end.milliseconds)"
            case .announced(let place, let announcement, let instant):
                let word =
                    switch announcement {
                    case .failed(let end): end == nil ? "failed" : "grace"
                    case .graceEnded: "graceEnded"
                    case .switchedOn: "on"
                    case .switchedOff: "off"
                    case .choseNext(let product, false, _): "next=\(product)"
                    case .choseNext(let product, true, _): "stays=\(product)"
                    case .redeemed: "redeemed"
                    }
                return "\(ids[place])\(word)@\(instant.milliseconds)"
            case .reopened(let place): return "\(ids[place])reopened"
            case .refreshed(let place): return "\(ids[place])again"
            }
        }
    }

    static func after(_ steps: [FamilyStep], _ shares: [FamilyShare]) -> [FamilyShare] {
        var shares = shares
        for step in steps {
            switch step {
            case .granted(let sale, _, _):
                shares.append(
                    FamilyShare(saleID: sale.id, originalID: sale.originalID, endsAt: sale.endsAt))
            case .ended(let place, let ending, _), .reinstated(let place, let ending, _):
                shares[place].ending = ending
            case .moved(let place, let end): shares[place].endsAt = end
            case .reopened(let place):
                shares[place].ending = nil
                shares[place].isStale = false
            case .announced(let place, _, _), .refreshed(let place):
                shares[place].isStale = false
            }
        }
        return shares
    }
}

extension String {
    fileprivate var trimmingMarks: String { String(filter { $0.isNumber || ":-".contains($0) }) }
}
