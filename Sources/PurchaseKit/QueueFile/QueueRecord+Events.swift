// SPDX-License-Identifier: Apache-2.0

import Commerce

/// Something that happened and must be recorded.
enum QueueEvent: Sendable {
    /// A process begins. The given launches have ended.
    case launched(String, ended: Set<String>)
    case signedIn(QueueRecord.LastSignIn, QueueRecord.KnownRealm)
    case added(QueueEntry)
    /// The payment of a choice, which another launch may have added before. The given
    /// launches have ended.
    case joined(QueueEntry, ended: Set<String>)
    /// The customer confirmed a price. The payment may be sent from now on.
    case confirmed(key: String, Owner, ShownPrice)
    /// The price had changed, and the customer confirmed the new one, under a
    /// new purchase id.
    case repriced(key: String, refused: String?, purchaseID: String, ShownPrice)
    case deferred(key: String)
    case failed(key: String, PaymentFailure)
    /// The app finished a failure that could not be recorded before.
    case dropped(key: String)
    case sold(key: String, SoldTransaction, QueueRecord.Receipt)
    /// The payment was answered with the transaction of an earlier one, whose
    /// contents it takes over.
    case soldBefore(key: String, PaymentContents, SoldTransaction, QueueRecord.Receipt)
    /// The store's list of transactions contained unfinished ones.
    case arrived(Arrivals)
    /// The customer restored finished sales, or had the receipt fetched again.
    case restored(Restoration)
    case finished(key: String)
    /// The store has recorded the finish.
    case acknowledged(key: String)
}

extension QueueEvent {
    /// Whether it must be durable before it has effects. All other events are
    /// simply repeated if a power failure undid them. A payment that was added
    /// has not left the device. Whether a payment has ended or waits, and what
    /// the store has recorded, is found out again.
    var mustLast: Bool {
        switch self {
        case .launched, .added, .joined, .deferred, .dropped, .acknowledged: false
        case .signedIn, .confirmed, .repriced, .failed, .sold, .soldBefore, .arrived, .restored,
            .finished:
            true
        }
    }
}

/// Unfinished transactions of one customer.
struct Arrivals: Sendable {
    struct Item: Sendable {
        var key: String
        var purchaseID: String?
        var payment: PaymentContents
        var sold: SoldTransaction
    }

    var owner: Owner
    var launch: String
    var items: [Item]
    var receipt: QueueRecord.Receipt?
    /// The revision at which the customer's history was cleared, or nil.
    var cleared: Int64?
    /// Transactions that the store has revoked. They leave the queue.
    var revoked: Set<String> = []
    /// Transactions that are not revoked any more.
    var restored: Set<String> = []
}

/// Finished sales that one customer has restored, and the receipt that goes with
/// them.
struct Restoration: Sendable {
    struct Item: Sendable {
        /// The new entry's key. The app sees it as the transaction's number.
        var key: String
        var payment: PaymentContents
        var sale: RestoredSale
    }

    var owner: Owner
    var launch: String
    var items: [Item]
    var receipt: QueueRecord.Receipt
}

/// What to do once the change is on disk.
enum QueueAction: Hashable, Sendable {
    /// Report the entry's state to the app.
    case deliver(key: String)
    /// Report the states of several entries to the app at once.
    case deliverAll(keys: [String])
    /// Report to the app that the entry has left the queue.
    case remove(key: String)
    /// Continue with the payment.
    case carry(key: String)
    /// Continue with a payment that may have reached the store.
    case resume(key: String)
    /// Send the finish to the store.
    case tellFinish(key: String)
}

extension QueueRecord {
    /// Changes the record by one event. An event that comes too late, because
    /// another process or answer was first, changes nothing and returns no
    /// actions.
    mutating func apply(_ event: QueueEvent) -> [QueueAction] {
        switch event {
        case .launched(let launch, let ended): adopt(launch, ended: ended)
        case .signedIn(let who, let realm): learn(who, realm)
        case .added(let entry): add(entry)
        case .joined(let entry, let ended): join(entry, ended: ended)
        case .confirmed(let key, let owner, let shown): confirm(key, owner, shown)
        case .repriced(let key, let refused, let id, let shown):
            reprice(key, refused, id, shown)
        case .deferred(let key): wait(key)
        case .failed(let key, let failure): fail(key, failure)
        case .dropped(let key): drop(key)
        case .sold(let key, let sold, let receipt): sell(key, sold, receipt)
        case .soldBefore(let key, let payment, let sold, let receipt):
            sell(key, as: payment, sold, receipt)
        case .arrived(let arrivals): arrive(arrivals)
        case .restored(let restoration): restore(restoration)
        case .finished(let key): finish(key)
        case .acknowledged(let key): acknowledge(key)
        }
    }

    /// Adopts the entries of launches that have ended. A payment whose sheet
    /// was not answered has not left the device. It ends as cancelled, because
    /// a sheet that opens by itself at the next launch would be unexpected.
    private mutating func adopt(_ launch: String, ended: Set<String>) -> [QueueAction] {
        for index in entries.indices where ended.contains(entries[index].launch) {
            entries[index].launch = launch
            guard entries[index].state == .asked else { continue }
            entries[index].state = .failed
            entries[index].failure = PaymentFailure(
                .cancelled, "The app ended before the payment was confirmed.")
        }
        return []
    }

    private mutating func learn(_ who: LastSignIn, _ realm: KnownRealm) -> [QueueAction] {
        lastSignIn = who
        let isRestored = self.realm(realm.id).map { $0.generation != realm.generation } ?? false
        realms.removeAll { $0.id == realm.id }
        realms.append(realm)
        if isRestored {
            // The realm was restored from a backup, so what was read from it
            // may no longer be true.
            customers.removeAll { $0.owner.realm == realm.id }
            if receipt?.owner.realm == realm.id { receipt?.etag = nil }
        }
        return []
    }

    private mutating func add(_ entry: QueueEntry) -> [QueueAction] {
        entries.append(entry)
        return [.deliver(key: entry.key), .carry(key: entry.key)]
    }

    /// Adds the payment of a choice once. A payment of a launch that has ended continues
    /// in the one that joins it.
    private mutating func join(_ entry: QueueEntry, ended: Set<String>) -> [QueueAction] {
        guard let index = entries.firstIndex(where: { $0.key == entry.key }) else {
            return add(entry)
        }
        let known = entries[index]
        guard ended.contains(known.launch) else { return [.deliver(key: entry.key)] }
        entries[index].launch = entry.launch
        guard known.isUnderWay else { return [.deliver(key: entry.key)] }
        return [
            .deliver(key: entry.key),
            known.state == .asked ? .carry(key: entry.key) : .resume(key: entry.key),
        ]
    }

    private mutating func confirm(
        _ key: String, _ owner: Owner, _ shown: ShownPrice
    ) -> [QueueAction] {
        change(key, from: [.asked]) { entry in
            entry.state = .confirmed
            entry.owner = owner
            entry.shown = shown
        }
        return []
    }

    /// Replaces a refused purchase id. If the entry has another id by now,
    /// nothing changes, because that one may be sold.
    private mutating func reprice(
        _ key: String, _ refused: String?, _ purchaseID: String, _ shown: ShownPrice
    ) -> [QueueAction] {
        guard entry(key)?.purchaseID == refused else { return [] }
        change(key, from: [.confirmed, .waiting]) { entry in
            entry.replaces = entry.purchaseID
            entry.purchaseID = purchaseID
            entry.shown = shown
            entry.state = .confirmed
        }
        return []
    }

    private mutating func wait(_ key: String) -> [QueueAction] {
        change(key, from: [.confirmed]) { $0.state = .waiting } ? [.deliver(key: key)] : []
    }

    private mutating func fail(_ key: String, _ failure: PaymentFailure) -> [QueueAction] {
        let isChanged = change(key, from: [.asked, .confirmed, .waiting]) { entry in
            entry.state = .failed
            entry.failure = failure
        }
        return isChanged ? [.deliver(key: key)] : []
    }

    private mutating func sell(
        _ key: String, as payment: PaymentContents? = nil, _ sold: SoldTransaction,
        _ receipt: Receipt
    ) -> [QueueAction] {
        let isChanged = change(key, from: [.confirmed, .waiting]) { entry in
            entry.state = .purchased
            if let payment { entry.payment = payment }
            entry.sold = sold
        }
        guard isChanged else { return [] }
        self.receipt = receipt
        // What the customer has is sold again as the same transaction. It is
        // unfinished again, and one finish is enough for both.
        let owner = entry(key)?.owner
        entries.removeAll {
            $0.state == .finished && $0.owner == owner
                && $0.sold?.transactionID == sold.transactionID
        }
        return [.deliver(key: key)]
    }

    private mutating func arrive(_ arrivals: Arrivals) -> [QueueAction] {
        var actions: [QueueAction] = []
        if let revision = arrivals.cleared, revision > cleared(of: arrivals.owner) ?? -1 {
            actions = clear(arrivals.owner, upTo: revision)
            customers.removeAll { $0.owner == arrivals.owner }
            customers.append(KnownCustomer(owner: arrivals.owner, cleared: revision))
        }
        actions += revoke(arrivals)
        var known = KnownSales(entries, of: arrivals.owner)
        for item in arrivals.items {
            actions += arrive(item, arrivals, &known)
        }
        if let receipt = arrivals.receipt { self.receipt = receipt }
        return actions
    }

    /// Removes revoked transactions that the app has not finished. They are nothing
    /// that it should deliver.
    private mutating func revoke(_ arrivals: Arrivals) -> [QueueAction] {
        guard !arrivals.revoked.isEmpty || !arrivals.restored.isEmpty else { return [] }
        var known =
            customers.first { $0.owner == arrivals.owner }
            ?? KnownCustomer(owner: arrivals.owner, cleared: -1)
        let revoked = Set(known.revoked ?? []).union(arrivals.revoked)
            .subtracting(arrivals.restored)
        known.revoked = revoked.isEmpty ? nil : revoked.sorted()
        customers.removeAll { $0.owner == arrivals.owner }
        customers.append(known)
        let gone = entries.filter { entry in
            entry.owner == arrivals.owner && entry.isOwedToApp
                && entry.sale.map { arrivals.revoked.contains($0.transactionID) } == true
        }.map(\.key)
        entries.removeAll { gone.contains($0.key) }
        return gone.map { .remove(key: $0) }
    }

    /// Removes what was sold up to a revision and ends waiting payments. Other
    /// customers' entries and running payments stay.
    private mutating func clear(_ owner: Owner, upTo revision: Int64) -> [QueueAction] {
        var actions: [QueueAction] = []
        for entry in entries where entry.owner == owner {
            if entry.state == .waiting {
                actions += fail(
                    entry.key,
                    PaymentFailure(.unknown, "The customer's history was cleared at the store."))
            } else if let sale = entry.sale, sale.revision ?? 0 <= revision {
                entries.removeAll { $0.key == entry.key }
                if entry.isOwedToApp { actions.append(.remove(key: entry.key)) }
            }
        }
        return actions
    }

    private mutating func arrive(
        _ item: Arrivals.Item, _ arrivals: Arrivals, _ known: inout KnownSales
    ) -> [QueueAction] {
        let own = item.purchaseID.flatMap { known.purchases[$0] }.map { entries[$0] }
        if let own, own.state == .confirmed || own.state == .waiting {
            // The answer to a payment in this file. The process of that payment
            // delivers it.
            guard own.launch == arrivals.launch else { return [] }
            known.transactions.insert(item.sold.transactionID)
            change(own.key, from: [.confirmed, .waiting]) { entry in
                entry.state = .purchased
                entry.sold = item.sold
            }
            return [.deliver(key: own.key)]
        }
        guard known.transactions.insert(item.sold.transactionID).inserted else { return [] }
        entries.append(
            QueueEntry(
                key: item.key, purchaseID: item.purchaseID, launch: arrivals.launch,
                owner: arrivals.owner, payment: item.payment, state: .purchased, sold: item.sold))
        return [.deliver(key: item.key)]
    }

    /// Adds a transaction for each sale, except for those that the app has still to
    /// finish in this queue.
    private mutating func restore(_ restoration: Restoration) -> [QueueAction] {
        let open = Set(
            entries.filter { $0.owner == restoration.owner && $0.state == .purchased }
                .compactMap { $0.sold?.transactionID })
        let items = restoration.items.filter { !open.contains($0.sale.transactionID) }
        entries += items.map { item in
            QueueEntry(
                key: item.key, launch: restoration.launch, owner: restoration.owner,
                payment: item.payment, state: .restored, restored: item.sale)
        }
        receipt = restoration.receipt
        return items.isEmpty ? [] : [.deliverAll(keys: items.map(\.key))]
    }

    private mutating func finish(_ key: String) -> [QueueAction] {
        guard let entry = entry(key) else { return [] }
        switch entry.state {
        case .failed, .restored:
            entries.removeAll { $0.key == key }
            return [.remove(key: key)]
        case .purchased:
            change(key, from: [.purchased]) { $0.state = .finished }
            // Payments that were answered with the same transaction are finished too.
            let same = entries.filter {
                $0.state == .purchased && $0.owner == entry.owner
                    && $0.sold?.transactionID == entry.sold?.transactionID
            }.map(\.key)
            entries.removeAll { same.contains($0.key) }
            return [.remove(key: key)] + same.map { .remove(key: $0) } + [.tellFinish(key: key)]
        case .asked, .confirmed, .waiting, .finished:
            return []
        }
    }

    private mutating func drop(_ key: String) -> [QueueAction] {
        entries.removeAll { $0.key == key && $0.state == .asked }
        return []
    }

    private mutating func acknowledge(_ key: String) -> [QueueAction] {
        entries.removeAll { $0.key == key && $0.state == .finished }
        return []
    }

    @discardableResult
    private mutating func change(
        _ key: String, from states: Set<QueueEntry.State>, by change: (inout QueueEntry) -> Void
    ) -> Bool {
        guard let index = entries.firstIndex(where: { $0.key == key }),
            states.contains(entries[index].state)
        else { return false }
        change(&entries[index])
        return true
    }
}

/// What a queue has of a customer, so that each arrival need not look through it.
private struct KnownSales {
    /// The ids of the transactions that were sold.
    var transactions: Set<String> = []
    /// The places of entries by their purchase ids. The first, if there are several.
    var purchases: [String: Int] = [:]

    init(_ entries: [QueueEntry], of owner: Owner) {
        for (place, entry) in entries.enumerated() where entry.owner == owner {
            if let sold = entry.sold { transactions.insert(sold.transactionID) }
            guard let purchase = entry.purchaseID, purchases[purchase] == nil else { continue }
            purchases[purchase] = place
        }
    }
}
