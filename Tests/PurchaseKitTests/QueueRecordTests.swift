// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import Testing

@testable import PurchaseKit

/// The pure machine: each event from each state.
struct QueueRecordTests {
    let owner = Owner(realm: "r", customer: "c")
    let shown = ShownPrice(unitPrice: 990, currency: "USD")
    let sold = SoldTransaction(
        transactionID: "2", purchaseDate: nil, signedTransaction: "a.b.c")
    let restored = RestoredSale(
        transactionID: "2", revision: 7, originalID: "1", date: Timestamp(milliseconds: 9))
    var receipt: QueueRecord.Receipt { .init(path: "sandboxReceipt", etag: "1", owner: owner) }

    func record(_ state: QueueEntry.State) -> QueueRecord {
        var record = QueueRecord(storeURL: "u", bundleID: "b", deviceUUID: "d")
        var entry = QueueEntry(
            key: "k", purchaseID: "p", launch: "l",
            payment: PaymentContents(productID: "x", quantity: 1), state: state)
        if state != .asked { entry.owner = owner }
        if state == .purchased || state == .finished { entry.sold = sold }
        if state == .restored { entry.restored = restored }
        record.entries = [entry]
        return record
    }

    func event(_ name: Substring) -> QueueEvent {
        switch name {
        case "confirmed": .confirmed(key: "k", owner, shown)
        case "repriced": .repriced(key: "k", refused: "p", purchaseID: "p2", shown)
        case "deferred": .deferred(key: "k")
        case "failed": .failed(key: "k", PaymentFailure(.unknown, ""))
        case "dropped": .dropped(key: "k")
        case "sold": .sold(key: "k", sold, receipt)
        case "arrived": .arrived(arrivals(purchaseID: "p"))
        case "finished": .finished(key: "k")
        case "acknowledged": .acknowledged(key: "k")
        default: .launched("l2", ended: ["l"])
        }
    }

    func arrivals(
        purchaseID: String?, launch: String = "l", cleared: Int64? = nil
    ) -> Arrivals {
        let item = Arrivals.Item(
            key: "k2", purchaseID: purchaseID,
            payment: PaymentContents(productID: "x", quantity: 1), sold: sold)
        return Arrivals(
            owner: owner, launch: launch, items: [item], receipt: receipt, cleared: cleared)
    }

    /// Rows: event. Columns: state before. Cells: state after, with a star
    /// where the observers are told, a minus where it is taken off and an
    /// arrow where the store is told; a dot where nothing changes.
    static let table = """
        event        | asked     | confirmed  | waiting    | failed | purchased   | finished | restored
        confirmed    | confirmed | .          | .          | .      | .           | .        | .
        repriced     | .         | .          | confirmed  | .      | .           | .        | .
        deferred     | .         | waiting*   | .          | .      | .           | .        | .
        failed       | failed*   | failed*    | failed*    | .      | .           | .        | .
        dropped      | gone      | .          | .          | .      | .           | .        | .
        sold         | .         | purchased* | purchased* | .      | .           | .        | .
        finished     | .         | .          | .          | gone-  | finished->  | .        | gone-
        acknowledged | .         | .          | .          | .      | .           | gone     | .
        launched     | failed    | .          | .          | .      | .           | .        | .
        """

    @Test(arguments: table.split(separator: "\n").dropFirst().map(String.init))
    func `each event moves each state as in the table`(row: String) {
        let states: [QueueEntry.State] = [
            .asked, .confirmed, .waiting, .failed, .purchased, .finished, .restored,
        ]
        let cells = row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
        for (state, expected) in zip(states, cells.dropFirst()) {
            var record = record(state)
            let actions = record.apply(event(Substring(cells[0])))
            let after = record.entry("k")?.state
            var cell = after.map(\.rawValue) ?? "gone"
            if after == state { cell = "." }
            if actions.contains(.deliver(key: "k")) { cell += "*" }
            if actions.contains(.remove(key: "k")) { cell += "-" }
            if actions.contains(.tellFinish(key: "k")) { cell += ">" }
            #expect(cell == expected, "\(cells[0]) from \(state)")
        }
    }

    @Test func `adding notifies the observers, then carries`() {
        var record = QueueRecord(storeURL: "u", bundleID: nil, deviceUUID: "d")
        let entry = self.record(.asked).entries[0]
        #expect(record.apply(.added(entry)) == [.deliver(key: "k"), .carry(key: "k")])
    }

    @Test func `a new price has a new id that names the old one`() {
        var record = record(.confirmed)
        _ = record.apply(.repriced(key: "k", refused: "p", purchaseID: "p2", shown))
        #expect(record.entries[0].purchaseID == "p2")
        #expect(record.entries[0].replaces == "p")
        #expect(record.entries.count == 1)
    }

    @Test func `only the payment that was refused is replaced`() {
        var record = record(.waiting)
        let before = record

        let actions = record.apply(
            .repriced(key: "k", refused: "p0", purchaseID: "p2", shown))

        #expect(record == before)
        #expect(actions == [])
    }

    // MARK: Two of a kind

    @Test
    func `an event about one payment leaves every other as it is, and is not disturbed by it`() {
        let states: [QueueEntry.State] = [
            .asked, .confirmed, .waiting, .failed, .purchased, .finished,
        ]
        let names: [Substring] = [
            "confirmed", "repriced", "deferred", "failed", "dropped", "sold", "arrived",
            "finished", "acknowledged", "launched",
        ]
        for (name, state) in names.flatMap({ name in states.map { (name, $0) } }) {
            var alone = record(state)
            let actions = alone.apply(event(name))
            // A launch that ended takes all its payments with it.
            for (other, launch) in states.flatMap({ [($0, "lb"), ($0, "l")] })
            where name != "launched" || launch == "lb" {
                var record = record(state)
                var bystander = self.record(other).entries[0]
                (bystander.key, bystander.purchaseID, bystander.launch) = ("b", "pb", launch)
                bystander.sold?.transactionID = "9"
                record.entries.insert(bystander, at: 0)

                #expect(record.apply(event(name)) == actions, "\(name) beside \(other)")

                #expect(record.entry("b") == bystander, "\(name) beside \(other)")
                record.entries.removeAll { $0.key == "b" }
                #expect(record == alone, "\(name) beside \(other)")
            }
        }
    }

    @Test func `a restored realm leaves what is known of another alone`() {
        var record = record(.purchased)
        let far = Owner(realm: "r2", customer: "c")
        let who = QueueRecord.LastSignIn(owner: far, name: nil)
        for generation in 1...2 {
            _ = record.apply(.arrived(arrivals(purchaseID: nil, cleared: 7)))
            _ = record.apply(
                .signedIn(
                    who,
                    QueueRecord.KnownRealm(id: "r2", generation: Int64(generation), root: "A")))
        }

        #expect(record.cleared(of: owner) == 7)
        #expect(record.receipt?.etag == "1")
        #expect(record.realms.map(\.generation) == [2])
    }

    @Test func `a sign-in to a realm that was not restored keeps what is known of it`() {
        var record = record(.purchased)
        let realm = QueueRecord.KnownRealm(id: owner.realm, generation: 1, root: "A")
        let other = Owner(realm: owner.realm, customer: "other")
        _ = record.apply(.signedIn(QueueRecord.LastSignIn(owner: owner, name: nil), realm))
        _ = record.apply(.arrived(arrivals(purchaseID: nil, cleared: 7)))

        _ = record.apply(.signedIn(QueueRecord.LastSignIn(owner: other, name: nil), realm))

        #expect(record.cleared(of: owner) == 7)
        #expect(record.receipt?.etag == "1")
        #expect(record.lastSignIn?.owner == other)
    }

    @Test func `a sale of another customer's number leaves the tombstone alone`() {
        var record = record(.confirmed)
        let other = QueueEntry(
            key: "t", launch: "l", owner: Owner(realm: "r2", customer: "c"),
            payment: PaymentContents(productID: "x", quantity: 1), state: .finished, sold: sold)
        record.entries.append(other)

        _ = record.apply(.sold(key: "k", sold, receipt))

        #expect(record.entry("t") == other)
        #expect(record.entry("k")?.state == .purchased)
    }

    @Test func `another customer's transaction does not answer a payment of the same id`() {
        var record = record(.confirmed)
        var arrivals = arrivals(purchaseID: "p")
        arrivals.owner = Owner(realm: "r", customer: "c2")

        let actions = record.apply(.arrived(arrivals))

        #expect(record.entry("k")?.state == .confirmed)
        #expect(record.entry("k2")?.owner == arrivals.owner)
        #expect(actions == [.deliver(key: "k2")])
    }

    @Test func `two realms are known by their own roots and clearings`() {
        var record = record(.confirmed)
        let first = QueueRecord.KnownRealm(id: "r", generation: 1, root: "A")
        let second = QueueRecord.KnownRealm(id: "r2", generation: 1, root: "B")
        let who = QueueRecord.LastSignIn(owner: owner, name: nil)
        _ = record.apply(.signedIn(who, first))
        _ = record.apply(.arrived(arrivals(purchaseID: nil, cleared: 7)))

        _ = record.apply(
            .signedIn(
                QueueRecord.LastSignIn(owner: Owner(realm: "r2", customer: "c"), name: nil),
                QueueRecord.KnownRealm(id: "r2", generation: 1, root: "B")))

        #expect(record.realm("r") == first)
        #expect(record.realm("r2") == second)
        #expect(record.cleared(of: owner) == 7)
        #expect(record.cleared(of: Owner(realm: "r2", customer: "c")) == nil)
    }

    @Test func `an answer that comes both ways is one purchase`() {
        var record = record(.confirmed)
        #expect(record.apply(.arrived(arrivals(purchaseID: "p"))) == [.deliver(key: "k")])
        #expect(record.apply(.sold(key: "k", sold, receipt)) == [])
        #expect(record.apply(.arrived(arrivals(purchaseID: "p"))) == [])
        #expect(record.entries.count == 1)
    }

    @Test func `the answer to another process's payment is left to it`() {
        var record = record(.confirmed)
        #expect(record.apply(.arrived(arrivals(purchaseID: "p", launch: "l2"))) == [])
        #expect(record.entries[0].state == .confirmed)
    }

    @Test func `a sale behind a payment that was reported as failed is still delivered`() {
        var record = record(.failed)
        #expect(record.apply(.arrived(arrivals(purchaseID: "p"))) == [.deliver(key: "k2")])
        #expect(record.entries.count == 2)
    }

    @Test func `what is owned and bought again takes the tombstone's place`() {
        var record = record(.finished)
        record.entries.append(self.record(.confirmed).entries[0])
        record.entries[1].key = "again"
        #expect(record.apply(.sold(key: "again", sold, receipt)) == [.deliver(key: "again")])
        #expect(record.entries.map(\.key) == ["again"])
    }

    /// Cells as in the table above.
    @Test(arguments: [
        ("asked", "asked", 9), ("confirmed", "confirmed", 9), ("waiting", "failed*", 9),
        ("failed", "failed", 9), ("purchased", "gone-", 9), ("finished", "gone", 9),
        ("purchased", "purchased", 8), ("finished", "finished", 8),
    ])
    func `a cleared history takes what was sold up to it`(
        before: String, after: String, cleared: Int64
    ) throws {
        var record = record(try #require(QueueEntry.State(rawValue: before)))
        record.entries[0].sold?.revision = 9
        var told = arrivals(purchaseID: nil)
        (told.items, told.cleared) = ([], cleared)
        let actions = record.apply(.arrived(told))
        var cell = record.entry("k")?.state.rawValue ?? "gone"
        if actions.contains(.deliver(key: "k")) { cell += "*" }
        if actions.contains(.remove(key: "k")) { cell += "-" }
        #expect(cell == after)
        var others = self.record(.purchased)
        others.entries[0].owner = Owner(realm: "r", customer: "another")
        #expect(others.apply(.arrived(told)) == [] && others.entries.count == 1)
    }

    /// The page of a clearing may be read again: by the next launch, or from a
    /// history that was lost.
    @Test func `a clearing is carried out once`() {
        var record = record(.purchased)
        record.entries[0].sold?.revision = 9
        var told = arrivals(purchaseID: nil, cleared: 9)
        told.items = []
        #expect(record.apply(.arrived(told)) == [.remove(key: "k")])

        record.entries = self.record(.waiting).entries
        #expect(record.apply(.arrived(told)) == [])
        #expect(record.entry("k")?.state == .waiting)

        told.cleared = 10
        #expect(record.apply(.arrived(told)) == [.deliver(key: "k")])
        #expect(record.customers == [QueueRecord.KnownCustomer(owner: owner, cleared: 10)])
    }

    /// A page of a refund may be read again, and a refund may be taken back.
    @Test func `what is revoked leaves the queue, and is known until it is valid again`() {
        var record = record(.purchased)
        var told = arrivals(purchaseID: nil)
        told.items = []
        told.revoked = ["2", "3"]

        #expect(record.apply(.arrived(told)) == [.remove(key: "k")])
        #expect(record.entries.isEmpty && record.revoked(of: owner) == ["2", "3"])
        #expect(record.apply(.arrived(told)) == [])
        #expect(record.cleared(of: owner) ?? -1 == -1)

        told.revoked = []
        told.restored = ["3"]
        #expect(record.apply(.arrived(told)) == [])
        #expect(record.revoked(of: owner) == ["2"])
        told.restored = ["2"]
        _ = record.apply(.arrived(told))
        #expect(record.revoked(of: owner).isEmpty)
        let other = Owner(realm: "r", customer: "another")
        #expect(record.revoked(of: other).isEmpty)
    }

    @Test(arguments: [QueueEntry.State.confirmed, .waiting, .failed, .finished])
    func `a revoked transaction touches no other payment`(state: QueueEntry.State) {
        var record = record(state)
        let before = record.entries
        var told = arrivals(purchaseID: nil)
        told.items = []
        told.revoked = ["2"]
        #expect(record.apply(.arrived(told)) == [])
        #expect(record.entries == before)
    }

    @Test func `a clearing after a refund is carried out`() {
        var record = record(.purchased)
        record.entries[0].sold?.revision = 9
        var told = arrivals(purchaseID: nil)
        told.items = []
        told.revoked = ["7"]
        _ = record.apply(.arrived(told))
        told.revoked = []
        told.cleared = 9
        #expect(record.apply(.arrived(told)) == [.remove(key: "k")])
        #expect(record.revoked(of: owner).isEmpty)
    }

    @Test func `a restored realm forgets what was cleared`() {
        var record = record(.purchased)
        let who = QueueRecord.LastSignIn(owner: owner, name: nil)
        let realm = QueueRecord.KnownRealm(id: "r", generation: 1, root: "AA==")
        _ = record.apply(.signedIn(who, realm))
        _ = record.apply(.arrived(arrivals(purchaseID: nil, cleared: 7)))
        #expect(record.cleared(of: owner) == 7)

        var restored = realm
        restored.generation = 2
        _ = record.apply(.signedIn(who, restored))

        #expect(record.cleared(of: owner) == nil)
        #expect(record.receipt?.etag == nil)
        #expect(record.entries.count == 1)
    }

    @Test func `entries of others are not this launch's`() {
        let record = record(.purchased)
        #expect(record.entries(of: "l", for: owner).count == 1)
        #expect(record.entries(of: "l2", for: owner).isEmpty)
        #expect(record.entries(of: "l", for: Owner(realm: "r", customer: "d")).isEmpty)
        #expect(record.entries(of: "l", for: nil).isEmpty)
    }

    /// All event sequences up to six long: no purchase is lost, and nothing
    /// is told twice without a reason.
    @Test func `whatever happens in whatever order, a sale is delivered until finished`() {
        let names: [Substring] = [
            "confirmed", "deferred", "failed", "sold", "arrived", "finished", "acknowledged",
        ]
        func explore(_ record: QueueRecord, _ told: Int, _ removed: Int, _ depth: Int) {
            guard depth > 0 else { return }
            for name in names {
                var next = record
                let actions = next.apply(event(name))
                let tells = actions.filter {
                    if case .deliver(let key) = $0 {
                        next.entry(key)?.state == .purchased
                    } else {
                        false
                    }
                }.count
                let removals = actions.filter { if case .remove = $0 { true } else { false } }
                if tells > 0, next.entries.allSatisfy({ $0.sold == nil }) {
                    Issue.record("a sale was told and is not kept after \(name)")
                }
                if record.entries.contains(where: { $0.state == .purchased }),
                    !next.entries.contains(where: { $0.sold != nil })
                {
                    Issue.record("a sale was lost by \(name)")
                }
                explore(next, told + tells, removed + removals.count, depth - 1)
            }
        }
        explore(record(.asked), 0, 0, 6)
    }
}
