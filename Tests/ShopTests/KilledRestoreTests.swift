// SPDX-License-Identifier: Apache-2.0

import Archive
import Commerce
import Storage
import StoreWire
import Synchronization
import TestSupport
import Testing

@testable import Shop

/// A restore that ends at any commit, as a killed process ends. What it leaves is
/// never taken for a new store.
@Suite(.unforgiven, .timeLimit(.minutes(5))) struct KilledRestoreTests {
    /// A backup of a store with one app.
    private func archive(_ here: BackupPlace) async throws -> String {
        let store = try await here.open(isNew: true)
        let realm = try await store.realm(named: Store.defaultRealm)
        try await realm.catalogue.putCatalogue(
            TestWorld.catalogue(), app: AppDescription(bundleID: TestWorld.bundleID))
        let archive = try await here.backup("copy")
        await store.close()
        return archive
    }

    private func restore(
        _ archive: String, into place: BackupPlace, dyingAfter commits: Int
    ) async throws {
        let countdown = Countdown(left: commits)
        var dying = place.places
        let (registry, realm) = (dying.registry, dying.realm)
        dying.registry = { DyingStorage(try await registry($0), countdown) }
        dying.realm = { DyingStorage(try await realm($0, $1), countdown) }
        _ = try await StoreRestore.read(
            archive, into: dying, place.dialect, keys: try place.keys(),
            wall: TestWall.start, randomness: .seeded(1))
    }

    /// Whether a store was opened. Throws if it was refused for another reason
    /// than the unfinished restore.
    private func isServed(_ place: BackupPlace) async throws -> Bool {
        do {
            await (try await place.open()).close()
            return true
        } catch let fault as StorageFault where fault.code == .halfRestored { return false }
    }

    @Test(arguments: BackupEngine.allCases)
    func `what a restore leaves is not served, wherever it ended`(
        engine: BackupEngine
    ) async throws {
        let here = try await BackupPlace(.sqlite)
        let archive = try await archive(here)
        var commits = 0
        while true {
            let place = try await BackupPlace(engine)
            do {
                try await restore(archive, into: place, dyingAfter: commits)
                break
            } catch is StorageFault {}
            #expect(try await !isServed(place), "after \(commits) commits")
            _ = try await place.restore(archive)
            #expect(try await isServed(place), "after \(commits) commits")
            // Each of the first commits, then samples of the many that load rows.
            commits += commits < 5 ? 1 : 6
        }
        #expect(commits > 3)
        withExtendedLifetime(here) {}
    }

    @Test(arguments: BackupEngine.allCases)
    func `a restore over an unfinished one leaves no moment without a mark`(
        engine: BackupEngine
    ) async throws {
        let here = try await BackupPlace(.sqlite)
        let archive = try await archive(here)
        let place = try await BackupPlace(engine)
        await #expect(throws: StorageFault.self) {
            try await restore(archive, into: place, dyingAfter: 2)
        }

        for commits in 0..<4 {
            await #expect(throws: StorageFault.self) {
                try await restore(archive, into: place, dyingAfter: commits)
            }
            #expect(try await !isServed(place), "after \(commits) commits")
        }
        withExtendedLifetime(here) {}
    }
}

extension KilledRestoreTests {
    private static let subject = "'com.example.monkeys/\(purchaseID(1))'"

    /// A refund that a customer waits for.
    private static func requested(events: Int, revision: Int) -> String {
        """
        INSERT INTO refunds SELECT customer_id, transaction_id, 1, bundle_id, 'requested',
            'OTHER', NULL, NULL, NULL, NULL, NULL, NULL, changed_at, NULL, NULL, NULL, NULL, NULL,
            \(events), \(revision) FROM transactions
        """
    }

    /// What the cases with a refund differ from.
    @Test func `a refund that contradicts nothing is restored`() async throws {
        try await checkRestore(after: Self.requested(events: 0, revision: 1), isRefused: false)
    }

    @Test(arguments: [
        "UPDATE transactions SET revision = 99999", "UPDATE purchases SET revision = 99999",
        "UPDATE customers SET revision = 0", "UPDATE purchases SET product_id = 'pro'",
        "UPDATE purchases SET state = 'refused'", "UPDATE purchases SET refusal = 'declined'",
        "UPDATE purchases SET transaction_id = NULL", "",
        "UPDATE transactions SET unit_price = 1", "UPDATE purchases SET unit_price = 1",
        "UPDATE transactions SET currency = 'EUR'", "UPDATE purchases SET currency = 'EUR'",
        "UPDATE transactions SET total_price = 1", "UPDATE purchases SET total_price = 1",
        "UPDATE purchases SET quantity = 2", "UPDATE realm SET audit_count = 0",
        "UPDATE realm SET audit_count = 4503599627370496",
        "UPDATE purchases SET history_revision = 1", "UPDATE purchases SET history_revision = 0",
        "UPDATE customers SET history_revision = 1", "UPDATE customers SET cleared_revision = 1",
        "UPDATE customers SET history_revision = 99999",
        "UPDATE purchases SET history_revision = 0, state = 'refused', refusal = 'declined', "
            + "transaction_id = NULL",
        "DELETE FROM sign_in_names", "UPDATE sign_in_names SET name = 'Customer'",
        "INSERT INTO sign_in_names SELECT 'other', customer_id FROM customers",
        """
        INSERT INTO customers (customer_id, name, may_buy, created_at, asks_to_buy,
            interrupts_purchases, revision)
        SELECT customer_id + 1000, name, 1, 1, 0, 0, 1 FROM customers
        UNION ALL SELECT customer_id + 2000, 'other', 1, 1, 0, 0, 1 FROM customers
        """,
        """
        INSERT INTO errands SELECT customer_id, 'capture',
            'com.example.monkeys/00000000-0000-4000-8000-000000000009', 'processor', 1, 1, 1, NULL
        FROM customers
        """,
        "INSERT INTO errands SELECT customer_id, 'capture', \(subject), 'other', 1, 1, 1, NULL "
            + "FROM customers",
        "INSERT INTO errands SELECT customer_id, 'refund', '2000000000009001.1', 'processor', "
            + "1, 1, 1, NULL FROM customers",
        requested(events: 0, revision: 99_999), requested(events: 5, revision: 1),
        """
        INSERT INTO refunds SELECT customer_id, transaction_id, 1, bundle_id, 'granted', NULL,
            NULL, 'full', total_price, currency, NULL, 0, NULL, changed_at, NULL, NULL, NULL, NULL, 0, 1
        FROM transactions
        """,
        """
        INSERT INTO due_work SELECT customer_id, 'approval',
            'com.example.monkeys/00000000-0000-4000-8000-000000000009', 1 FROM customers
        """,
        "UPDATE purchases SET decided_at = asked_at - 1",
        "UPDATE transactions SET revoked_at = purchased_at",
        "UPDATE transactions SET revocation_reason = 0",
    ])
    func `rows that contradict each other are not restored`(change: String) async throws {
        try await checkRestore(after: change, isRefused: !change.isEmpty)
    }

    private func checkRestore(after change: String, isRefused: Bool) async throws {
        let here = try await BackupPlace(.sqlite)
        let store = try await here.open(isNew: true)
        let realm = try await store.realm(named: Store.defaultRealm)
        try await realm.catalogue.putCatalogue(
            TestWorld.catalogue(), app: AppDescription(bundleID: TestWorld.bundleID))
        let request = SignInRequest(appVersion: "1", deviceUUID: TestWorld.deviceUUID)
        let token = try await realm.customers.signIn(request, TestWorld.context).token
        let session = try await realm.customers.session(token: token)
        _ = try await realm.purchases.purchase(
            purchaseID(1),
            PurchaseRequest(
                productId: "credits.5", quantity: 1, unitPrice: 990, currency: "USD"),
            session, TestWorld.context)
        if !change.isEmpty {
            let statement = Statement("test.contradict", change)
            try await realm.home.write { try $0.execute(statement, []) }
        }
        let archive = try await here.backup("copy")
        await store.close()
        let place = try await BackupPlace(.sqlite)

        do {
            _ = try await place.restore(archive)
            #expect(!isRefused)
        } catch let fault as ArchiveFault {
            #expect(isRefused && fault.code == .invalid, "\(fault)")
        }
        withExtendedLifetime(here) {}
    }

    /// A place with an unfinished restore stays one when the next archive is
    /// refused.
    @Test(arguments: BackupEngine.allCases)
    func `a refused restore leaves an unfinished one unfinished`(
        engine: BackupEngine
    ) async throws {
        let here = try await BackupPlace(.sqlite)
        let archive = try await archive(here)
        let place = try await BackupPlace(engine)
        await #expect(throws: StorageFault.self) {
            try await restore(archive, into: place, dyingAfter: 2)
        }

        await #expect(throws: ArchiveFault.self) {
            var refusing = place.places
            let realm = refusing.realm
            refusing.realm = { id, migrations in
                _ = try await realm(id, migrations)
                throw ArchiveFault(.notAnArchive, "a row contradicts another", rule: "none does")
            }
            _ = try await StoreRestore.read(
                archive, into: refusing, place.dialect, keys: try place.keys(),
                wall: TestWall.start.adding(seconds: 5), randomness: .seeded(2))
        }

        #expect(try await !isServed(place))
        _ = try await place.restore(archive)
        #expect(try await isServed(place))
        withExtendedLifetime(here) {}
    }
}

/// The commits that a process still makes before it dies.
private final class Countdown: Sendable {
    private let left: Mutex<Int>

    init(left: Int) { self.left = Mutex(left) }

    /// Throws once the process is dead.
    func commit() throws {
        try left.withLock { left in
            guard left > 0 else { throw StorageFault(.unavailable, "the process died") }
            left -= 1
        }
    }
}

/// A database that takes no write after the process died.
private struct DyingStorage: Storage {
    let storage: any Storage
    let countdown: Countdown

    init(_ storage: any Storage, _ countdown: Countdown) {
        (self.storage, self.countdown) = (storage, countdown)
    }

    func read<Answer: Sendable>(
        _ body: @escaping @Sendable (any Reading) throws -> Answer
    ) async throws -> Answer { try await storage.read(body) }

    func write<Answer: Sendable>(
        _ body: @escaping @Sendable (any Writing) throws -> Answer
    ) async throws -> Answer {
        try countdown.commit()
        return try await storage.write(body)
    }

    func wake(_ word: String) { storage.wake(word) }
    func wakes() -> AsyncStream<Wake> { storage.wakes() }
    func close() async throws { try await storage.close() }
}
