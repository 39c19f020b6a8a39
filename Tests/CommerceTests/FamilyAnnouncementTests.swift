// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import Commerce

/// What members hear of the purchaser's renewal: that it cannot be charged, and what the
/// purchaser chose for it.
@Suite struct FamilyAnnouncementTests {
    /// The purchaser's sales, as ``FamilyTests`` writes them; what happened: `f` failed, `F`
    /// with a grace period, `g` which ended, the sale that `r` recovered or `s` sold, renewal
    /// switched off `o` or on `O`, stopped `t` by the store, the next product `n`, which
    /// remains the present one `N`, and an offer `c`, each with its instant; what the member
    /// had, since when the purchaser shares, and the steps. `R`: refunded. `?`: a place has
    /// changed since the member last got something.
    private static let table = """
        sales         news      had  since  now  steps
        1:1-4         f4        1    2      5    1failed@4
        1:1-4         F4,g6     1    2      7    1grace@4,1graceEnded@6
        1:1-4,2:6-9   f4,2r6    1    2      7    1failed@4,-1renewed,+2recovery@6
        1:1-4,2:4-9   F4,2r6    1    2      7    1grace@4,-1renewed,+2recovery@6
        1:1-4,2:4-9   F4,2r4    1    2      7    1grace@4,-1renewed,+2recovery@4
        1:1-4,2:4-8   f8        1    2      9    -1renewed,+2renewal@4,2failed@8
        1:1-4x        F4,g6     1    2      9    1grace@4,1graceEnded@6,-1expired
        1:1-4,2:4-8~  f8        1    2      9    -1expired
        1:1-4         f4        1    5      9    1failed@4
        1:1-4         f4        1l   2      9    nothing
        1:1-4         f4        1    -      9    1failed@4,-1left
        1:1-4         o2        1    2      3    1off@2
        1:1-4         t2,O3     1    1      3    1off@2,1on@3
        1:1-4         n2,N2     1    1      3    1next=b@2,1stays=a@2
        1:1-4         c2        1    1      3    1redeemed@2
        1:1-4         1s1,o1    -    1      3    +1first@1,1off@1
        1:1-4         o1,1s1    -    1      3    +1first@1
        1:1-4         1s1,o1    -    2?     3    +1first@2
        1:1-4         1s1,o1    -    1?     3    +1first@1
        1:1-4         1s1,o3    -    1?     3    +1first@1,1off@3
        1:1-4         1s1,o3    -    2?     2    +1first@2
        1:1-4         o1        1    2?     3    1off@1
        1:1-4         o2        1    3      3    1off@2
        1:1-4         o2        1    -?     9    1off@2,-1left
        1:1-4         o2        1r   -?     9    nothing
        1:1-4!        o1        1    1      9    1off@1,-1refunded
        1:1-4!        o2,R2     1    1      9    1off@2,-1refunded
        1:1-4^,2:3-8~ o3,2s3    1    1      5    1off@3,-1unshared
        1:1-4!,2:4-8  o1,2s4,o5 1    1      6    1off@1,-1refunded,+2renewal@4,2off@5
        1:1-4,2:4-8   2s3,o3    1    1      3    -1renewed,+2renewal@4,2off@3
        1:1-4,2:4-8   o3,2s3    1    1      3    1off@3,-1renewed,+2renewal@4
        1:1-4,2:4-8   2s3,o3    1n,2 1      3    2off@3
        1:1-4,2:4-8~  2s4,o5    1    1      9    -1expired
        1:1-4x        o4        1    1      9    1off@4,-1expired
        """

    @Test(arguments: table.split(separator: "\n").dropFirst().map(String.init))
    func `a member hears what could not be charged, once`(line: String) throws {
        let words = line.split(separator: " ").map(String.init)
        var sharing = FamilyTests.sharing(words[0], since: words[3].filter { $0 != "?" })
        sharing.isSettled = !words[3].hasSuffix("?")
        sharing.news = try words[1].split(separator: ",").map(Self.news)
        let shares = words[2].split(separator: ",").filter { $0 != "-" }.map(FamilyTests.share)
        let now = FamilyTests.at(try #require(Int64(words[4])))

        let steps = sharing.steps(from: shares, at: now)

        let shown = FamilyTests.words(steps, shares).joined(separator: ",")
        #expect((shown.isEmpty ? "nothing" : shown) == words[5])
        (sharing.seen, sharing.isSettled) = (100, true)
        #expect(sharing.steps(from: FamilyTests.after(steps, shares), at: now) == [])
    }

    /// Stores have events with the name that was written first.
    @Test func `a stored event keeps its form`() throws {
        let stored = """
            {"billing":{"billing":{"graceEnded":{}},"product":"a","purchaser":1,"transaction":2}}
            """
        let event = FamilyEvent.Change.announced(
            transaction: TransactionID(2), product: "a", purchaser: CustomerID(1),
            announcement: .graceEnded)
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys

        #expect(String(decoding: try encoder.encode(event), as: UTF8.self) == stored)
        #expect(
            try JSONDecoder().decode(FamilyEvent.Change.self, from: Data(stored.utf8)) == event)
    }

    @Test func `what a member is shown is written anew for what the member still has`() {
        let sharing = FamilyTests.sharing("1:1-4,2:4-8", since: "2")
        var shares = ["1n", "2"].map { FamilyTests.share($0) }
        #expect(sharing.steps(from: shares, at: FamilyTests.at(5)) == [])

        for place in shares.indices { shares[place].isStale = true }

        #expect(sharing.steps(from: shares, at: FamilyTests.at(5)) == [.refreshed(share: 1)])
        let extended = FamilyTests.sharing("1:1-6", since: "2")
        shares = [FamilyTests.share("1")]
        shares[0].isStale = true
        #expect(
            extended.steps(from: shares, at: FamilyTests.at(3))
                == [.moved(share: 0, to: FamilyTests.at(6))])
    }

    /// A jump that is cut off carries what it has, and the rest later.
    @Test(arguments: 0..<32) func `what is carried in parts is what is carried at once`(
        cuts: Int
    ) throws {
        let news = try ["F4", "g6", "4r7", "f9"].enumerated().map { place, word in
            FamilyNews(
                originalID: TransactionID(1), revision: Int64(place + 2),
                event: try Self.news(word[...]).event)
        }
        var (shares, words, seen): ([FamilyShare], [String], Int64) = ([], [], 0)
        for revision in Int64(1)...5 where revision == 5 || cuts >> revision & 1 == 1 {
            var part = FamilyTests.sharing("1:1-4,4:7-9", since: "1")
            part.sales.removeAll { $0.revision > revision }
            part.news = news.filter { $0.revision <= revision }
            part.seen = seen
            let steps = part.steps(from: shares, at: FamilyTests.at(10))
            words += FamilyTests.words(steps, shares)
            shares = FamilyTests.after(steps, shares)
            seen = revision
        }
        #expect(
            words == [
                "+1first@1", "1grace@4", "1graceEnded@6", "-1renewed", "+4recovery@7",
                "4failed@9",
            ])
    }

    /// `f4`, or `2r6` with the sale.
    private static func news(_ word: Substring) throws -> FamilyNews {
        let sale = Int64(word.prefix { $0.isNumber })
        let letter = try #require(word.first { $0.isLetter })
        let instant = FamilyTests.at(try #require(Int64(word.reversed().prefixOfNumber)))
        let change: SubscriptionEvent.Change =
            switch letter {
            case "f": .failed(graceUntil: nil)
            case "F": .failed(graceUntil: instant.adding(milliseconds: 2))
            case "g": .graceEnded
            case "o": .switchedOff
            case "O": .switchedOn
            case "t": .stopped(reason: .unavailable)
            case "n", "N":
                .choseNext(
                    product: letter == "n" ? "b" : "a", price: try period(0).price,
                    isReversal: letter == "N")
            case "R": .refunded
            case "c": .redeemed(offer: offer)
            case "s": .renewed(period: try period(sale ?? 0))
            default: .recovered(period: try period(sale ?? 0))
            }
        return FamilyNews(
            originalID: TransactionID(1), revision: 50,
            event: SubscriptionEvent(at: instant, cause: .time, change: change))
    }

    private static let offer = AppliedOffer(
        kind: .promotional, id: "less", mode: .payAsYouGo, period: Period(1, .month),
        price: Amount(milliunits: 490), periodsLeft: 0)

    private static func period(_ id: Int64) throws -> SubscribedPeriod {
        let currency = try #require(Currency(code: "USD"))
        return SubscribedPeriod(
            transaction: TransactionID(id), productID: "a", start: FamilyTests.at(4),
            end: FamilyTests.at(9), length: Period(1, .month), anchorDay: 1,
            price: Money(Amount(milliunits: 990), currency))
    }
}

extension Sequence<Character> {
    /// The last digits of a reversed word.
    fileprivate var prefixOfNumber: String { String(prefix { $0.isNumber }.reversed()) }
}
