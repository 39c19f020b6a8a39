// SPDX-License-Identifier: Apache-2.0

import Archive
import Commerce
import Storage
import StorageSQLite
import StoreWire
import TestSupport
import Testing

@testable import Ledger

@Suite(.engineFree, .timeLimit(.minutes(5))) struct GrantBackupTests {
    private static func rules() throws -> GrantRules {
        try GrantRules([
            "coins": [
                Grant(name: "coins", kind: .credits(perUnit: 100), onReversal: .debt),
                Grant(name: "pro", kind: .entitlement(.forever)),
            ]
        ])
    }

    /// Copies a ledger's file to another, and opens that with every migration.
    private func copy(_ folder: TemporaryFolder) async throws -> any Storage {
        let source = try SQLiteReader(file: folder.file("one.sqlite"))
        _ = try await LedgerBackup.write(
            source, SQLiteStorage.dialect, to: folder.file("copy"), madeAt: Book.now)
        try await source.close()
        _ = try await LedgerRestore.read(
            folder.file("copy"), SQLiteStorage.dialect, wall: Book.now
        ) { migrations in
            try await SQLiteStorage.open(
                file: folder.file("two.sqlite"), migrations: migrations)
        }
        return try await SQLiteStorage.open(
            file: folder.file("two.sqlite"), migrations: Ledger.migrations)
    }

    @Test func `grants, credits and the signing key are as they were`() async throws {
        let folder = try temporaryFolder()
        let one = try await Book.open(
            storage: try await SQLiteStorage.open(
                file: folder.file("one.sqlite"), migrations: Ledger.migrations),
            grants: Self.rules())
        for id in 1...3 { try await one.prove(id, account: "blob") }
        try await one.spend("hat", 130)
        try await one.prove(1, account: nil, signed: 3, revoked: 2)
        let before = (
            try await one.ledger.balances(account: "blob"),
            try await one.ledger.entitlements(account: "blob"), one.ledger.publicKeys
        )
        await one.ledger.close()

        let two = try await Book.open(storage: try await copy(folder), grants: Self.rules())
        let entitlements = try await two.ledger.entitlements(account: "blob")
        let again = try await two.spend("hat", 130)
        try await two.prove(1, account: nil, signed: 5)

        #expect(entitlements == before.1)
        #expect(two.ledger.publicKeys == before.2)
        #expect(before.0.balances.map(\.balance) == [70])
        #expect(again.balance == 170)
        #expect(try await two.balance() == 170)
        #expect(try await two.imbalances() == [])
    }

    @Test func `a ledger of a program without grants is copied, and grants afterwards`()
        async throws
    {
        let folder = try temporaryFolder()
        let old = try await SQLiteStorage.open(
            file: folder.file("one.sqlite"), migrations: Array(Ledger.migrations.prefix(1)))
        try await old.close()

        let book = try await Book.open(storage: try await copy(folder), grants: Self.rules())
        try await book.prove(1, account: "blob")

        #expect(try await book.balance() == 100)
    }
}
