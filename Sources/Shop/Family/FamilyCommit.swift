// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire
import Work

/// Writes what a member gets, and has no more, from one purchaser: transactions,
/// notifications and events, in the member's line.
struct FamilyCommit: Sendable {
    let source: FamilySource
    /// The numbers of new transactions.
    let numbers: [Int64]
    let shelf: Shelf
    /// Makes the UUID of a notification from its cause.
    let uuid: @Sendable (_ cause: String) -> String

    static let causePrefix = "FAMILY"

    /// The cause of a notification: the member's transaction, the revision, and the number
    /// among those of the transaction in this commit, unless it is the first.
    static func cause(_ id: TransactionID, _ revision: Int64, _ number: Int) -> String {
        "\(causePrefix)/\(id).\(revision)" + (number > 1 ? ".\(number)" : "")
    }

    static func isCause(_ numbers: [String]) -> Bool {
        let number = numbers.count == 3 ? Edge.number(numbers[2]) : nil
        return numbers.count == 2 || number.map { $0 > 1 } == true
    }

    /// The answer is the number of transactions that were given. Leaves everything if
    /// another process has written a later state, or if there are too few numbers.
    func write(_ line: CustomerLine) throws -> Ending<Int> {
        let rows = try FamilyMemberRows(source.member, from: source.purchaser, line.writing)
        guard source.isEnough(for: rows),
            try line.writing.first(Statement.Families.advance, source.link) != nil
        else { return .leave(0) }
        var work = FamilyWriting(commit: self, rows: rows, line: line)
        let steps = source.steps(rows, at: line.now)
        // Another process has written them meanwhile.
        guard !steps.isEmpty else { return .leave(0) }
        for step in steps {
            guard try work.write(step) else { return .leave(0) }
        }
        return .commit(work.granted)
    }
}

/// The steps of one commit.
private struct FamilyWriting {
    let commit: FamilyCommit
    var rows: FamilyMemberRows
    let line: CustomerLine
    var granted = 0
    private var events: Int64 = 0
    /// The number of notifications of each transaction.
    private var notified: [TransactionID: Int] = [:]

    init(commit: FamilyCommit, rows: FamilyMemberRows, line: CustomerLine) {
        (self.commit, self.rows, self.line) = (commit, rows, line)
    }

    private var source: FamilySource { commit.source }

    /// False if there are no more numbers.
    mutating func write(_ step: FamilyStep) throws -> Bool {
        switch step {
        case .granted(let sale, let instant, let kind):
            guard granted < commit.numbers.count else { return false }
            let id = TransactionID(commit.numbers[granted])
            granted += 1
            try grant(sale, as: id, kind, at: min(instant, line.now))
        case .ended(let place, let ending, let instant):
            try end(place, ending, at: min(instant, line.now))
        case .reinstated(let place, let ending, let instant):
            try reinstate(place, as: ending, at: min(instant, line.now))
        case .moved(let place, let date): try move(place, to: date)
        case .announced(let place, let announcement, let instant):
            try announce(announcement, place, at: min(instant, line.now))
        case .reopened(let place):
            rows.shares[place].share.ending = nil
            rows.shares[place].endedAt = nil
            try put(rows.shares[place], place)
        case .refreshed(let place): try put(rows.shares[place], place)
        }
        return true
    }

    private mutating func grant(
        _ sale: FamilySale, as id: TransactionID, _ kind: FamilyStep.GrantKind, at: Timestamp
    ) throws {
        guard let bought = source.sale(sale.id), let account = rows.accounts[bought.bundleID]
        else { throw StorageFault(.malformedRow, "a sale that is shared and not there") }
        let first = rows.shares.first { $0.share.originalID == sale.originalID }
        let original = try first.map { try facts($0.transaction) }
        let given = bought.shared(
            with: source.member, as: id, after: original, in: account, kind, line)
        try line.writing.execute(Statement.Transactions.insert, given.row)
        let row = FamilyShareRow(
            customer: source.member, purchaser: source.purchaser,
            transaction: id, grantedAt: at,
            share: FamilyShare(
                saleID: sale.id, originalID: sale.originalID, endsAt: sale.endsAt,
                turn: Int64(rows.shares.count { $0.share.saleID == sale.id } + 1)),
            subscription: source.subscription(sale.originalID), revision: line.revision)
        try line.writing.execute(Statement.Families.putShare, row.row)
        rows.shares.append(row)
        try add(
            .granted(
                transaction: id, product: sale.productID, purchaser: source.purchaser, kind: kind),
            at: at)
        let (type, subtype) = NotificationKind.announcing(kind)
        try notify(type, subtype, given, at: at)
    }

    private mutating func end(
        _ place: Int, _ ending: FamilyShare.Ending, at instant: Timestamp
    ) throws {
        var row = rows.shares[place]
        let held = try facts(row.transaction)
        row.share.ending = ending
        row.endedAt = instant
        try put(row, place)
        if ending == .upgraded {
            try line.writing.execute(
                Statement.Transactions.upgrade,
                [
                    .integer(held.customer.value), .integer(held.id.value),
                    .integer(instant.milliseconds), .integer(line.revision),
                ])
        }
        guard ending.isRevoking || ending == .expired else { return }
        try add(
            .ended(
                transaction: row.transaction, product: held.productID,
                purchaser: source.purchaser, ending: ending), at: instant)
        if ending.isRevoking {
            _ = try held.revoke(for: .other, as: .family, line)
            try notify(NotificationKind.revoke, nil, held, at: instant)
        } else if let expired = NotificationKind.announcing(
            .expired(reason: source.expiration(row.share.originalID)))
        {
            try notify(expired.type, expired.subtype, held, at: instant)
        }
    }

    private mutating func reinstate(
        _ place: Int, as ending: FamilyShare.Ending, at instant: Timestamp
    ) throws {
        var row = rows.shares[place]
        let held = try facts(row.transaction)
        row.share.ending = ending
        row.endedAt = row.share.endsAt.map { min($0, instant) } ?? instant
        try put(row, place)
        try held.reinstate(line)
        try add(
            .reinstated(
                transaction: row.transaction, product: held.productID,
                purchaser: source.purchaser), at: instant)
        guard let type = NotificationKind.announcing(RefundEvent.Change.reversed) else { return }
        try notify(type, nil, held, at: instant)
    }

    private mutating func move(_ place: Int, to end: Timestamp) throws {
        var row = rows.shares[place]
        let held = try facts(row.transaction)
        let isLater = row.share.endsAt.map { $0 < end } == true
        row.share.endsAt = end
        try put(row, place)
        try held.extend(to: end, line)
        try add(.moved(transaction: row.transaction, to: end), at: line.now)
        guard isLater, let extended = NotificationKind.announcing(.extended(to: end)) else {
            return
        }
        try notify(extended.type, extended.subtype, held, at: line.now)
    }

    private mutating func announce(
        _ announcement: FamilyAnnouncement, _ place: Int, at instant: Timestamp
    ) throws {
        let row = rows.shares[place]
        let held = try facts(row.transaction)
        try put(row, place)
        try add(
            .announced(
                transaction: row.transaction, product: held.productID,
                purchaser: source.purchaser, announcement: announcement), at: instant)
        let (type, subtype) = NotificationKind.announcing(announcement)
        try notify(type, subtype, held, at: instant)
    }

    private mutating func put(_ row: FamilyShareRow, _ place: Int) throws {
        var row = row
        row.revision = line.revision
        row.subscription = source.subscription(row.share.originalID) ?? row.subscription
        try line.writing.execute(Statement.Families.putShare, row.row)
        rows.shares[place] = row
    }

    private func facts(_ id: TransactionID) throws -> TransactionFacts {
        let key: [SQLValue] = [.integer(source.member.value), .integer(id.value)]
        guard let row = try line.writing.first(Statement.Transactions.one, key) else {
            throw StorageFault(.malformedRow, "a share whose transaction is gone")
        }
        return try TransactionFacts(row: row)
    }

    private mutating func add(_ change: FamilyEvent.Change, at instant: Timestamp) throws {
        events += 1
        try FamilyEvent(at: instant, cause: .time, change: change).write(
            number: events, of: source.member, line)
    }

    private mutating func notify(
        _ type: String, _ subtype: String?, _ facts: TransactionFacts, at instant: Timestamp
    ) throws {
        let number = notified[facts.id, default: 0] + 1
        notified[facts.id] = number
        let cause = FamilyCommit.cause(facts.id, line.revision, number)
        let app = try commit.shelf.current(in: line).apps[facts.bundleID]
        // What a jump caused is sent in the order of the events. What happens now, after
        // a jump to this instant, was not caused by it.
        var caused = line
        caused.isDueWork =
            try instant < line.now || ClockJump.current(line.writing, of: line.clock) != nil
        try OwedNotification(
            customer: facts.customer, cause: cause, uuid: commit.uuid("notification/\(cause)"),
            type: type, subtype: subtype, bundleID: facts.bundleID, transaction: facts.id,
            revision: line.revision, owedAt: instant
        ).write(
            line, hasURL: app?.notificationURL != nil,
            by: caused.notificationWay(ofEventAt: instant))
    }
}

extension FamilyEvent {
    /// Writes the event in the customer's line. `number`: its place among those of the
    /// commit. `change`: the number of a change of the customer's place.
    func write(
        number: Int64, of customer: CustomerID, change number_: Int64? = nil, _ line: CustomerLine
    ) throws {
        try line.writing.execute(
            Statement.Families.addEvent,
            RealmSchema.familyEvents.row([
                "customer_id": .integer(customer.value), "revision": .integer(line.revision),
                "event": .integer(number), "happened_at": .integer(at.milliseconds),
                "cause": .text(cause.rawValue), "body": .text(StoredJSON.text(self)),
                "change": .optional(number_),
            ]))
    }
}

extension TransactionFacts {
    /// The transaction that a member of the family gets for this one: the member's own,
    /// which costs nothing and has the dates of the purchase. `original`: the member's
    /// first one of the same subscription.
    fileprivate func shared(
        with member: CustomerID, as id: TransactionID, after original: TransactionFacts?,
        in account: Int64, _ kind: FamilyStep.GrantKind, _ line: CustomerLine
    ) -> TransactionFacts {
        let nothing = Amount(milliunits: 0)
        return TransactionFacts(
            customer: member, id: id, originalID: original?.originalID ?? id,
            bundleID: bundleID, productID: productID, type: type, quantity: 1,
            unitPrice: nothing, total: Money(nothing, total.currency), storefront: storefront,
            reason: [.renewal, .recovery].contains(kind) ? reason : .purchase,
            ownership: .familyShared,
            appAccountToken: nil, appTransactionID: account, purchaseID: nil,
            purchasedAt: purchasedAt,
            originalPurchasedAt: original?.originalPurchasedAt ?? purchasedAt,
            revision: line.revision, changedAt: line.now, period: period?.shared)
    }
}

extension NotificationKind {
    /// [Apple's page](https://developer.apple.com/documentation/appstoreservernotifications/notificationtype):
    /// the types of a purchase are sent for access by a family, too.
    static func announcing(_ kind: FamilyStep.GrantKind) -> (type: String, subtype: String?) {
        switch kind {
        case .product: (oneTimeCharge, nil)
        case .first: ("SUBSCRIBED", "INITIAL_BUY")
        case .again: ("SUBSCRIBED", "RESUBSCRIBE")
        case .renewal: ("DID_RENEW", nil)
        case .recovery: ("DID_RENEW", "BILLING_RECOVERY")
        }
    }

    /// They are sent for each member, too.
    static func announcing(
        _ announcement: FamilyAnnouncement
    ) -> (type: String, subtype: String?) {
        switch announcement {
        case .failed(let graceUntil):
            ("DID_FAIL_TO_RENEW", graceUntil == nil ? nil : "GRACE_PERIOD")
        case .graceEnded: ("GRACE_PERIOD_EXPIRED", nil)
        case .switchedOn: ("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_ENABLED")
        case .switchedOff: ("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED")
        case .choseNext(_, let isReversal, let isRedeemed):
            (
                isRedeemed ? "OFFER_REDEEMED" : "DID_CHANGE_RENEWAL_PREF",
                isReversal ? nil : "DOWNGRADE"
            )
        case .redeemed: ("OFFER_REDEEMED", nil)
        }
    }
}
