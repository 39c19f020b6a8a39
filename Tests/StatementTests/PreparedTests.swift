// SPDX-License-Identifier: Apache-2.0

import Foundation
import Storage
import StoragePostgres
import StorageSQLite
import TestSupport
import Testing

@testable import Ledger
@testable import Shop
@testable import Work

/// Every named statement, on both engines, with its declared types: prepared,
/// run, and its columns of types that the dialect has.
@Suite(.timeLimit(.minutes(5))) struct PreparedTests {
    /// A kind of database: its tables and what is asked of them.
    enum Kind: String, CaseIterable, Sendable {
        case registry, realm, ledger

        var migrations: [Migration] {
            switch self {
            case .registry: RegistrySchema.migrations
            case .realm: RealmSchema.migrations
            case .ledger: Ledger.migrations
            }
        }

        var statements: [Statement] {
            switch self {
            case .registry: Statement.Shop.registry
            case .realm: Statement.Shop.realm
            case .ledger: Statement.LedgerBook.all
            }
        }
    }

    private struct RolledBack: Error {}

    @Test(arguments: Kind.allCases)
    func `every statement runs on SQLite`(kind: Kind) async throws {
        let storage = try await SQLiteStorage.open(file: nil, migrations: kind.migrations)
        try await runAll(kind, storage, withNulls: false)
    }

    @Test(arguments: Kind.allCases)
    func `every statement runs on PostgreSQL`(kind: Kind) async throws {
        let database = PostgresDatabase(
            try await PostgresCluster.shared().conninfo, options: PostgresOptions(connections: 1))
        let storage = try await database.schema(
            "prepared_\(kind.rawValue)", migrations: kind.migrations)
        try await runAll(kind, storage, withNulls: true)
        await database.close()
    }

    /// With values that name nothing, and with nulls where the engine takes
    /// one for a limit; what that writes is rolled back, or refused by a rule
    /// of its table.
    private func runAll(
        _ kind: Kind, _ storage: any Storage, withNulls: Bool
    ) async throws {
        for statement in kind.statements {
            try await run(statement, statement.parameters.map(Self.nothing), storage)
            guard withNulls else { continue }
            try await run(statement, statement.parameters.map { _ in .null }, storage)
        }
        // What is claimed is asked in other words on PostgreSQL.
        let due = Statement.Errands.due
        guard kind == .realm else { return }
        let claimed = try await storage.write {
            try $0.claim(due, due.parameters.map(Self.nothing)).count
        }
        #expect(claimed == 0)
    }

    private func run(
        _ statement: Statement, _ values: [SQLValue], _ storage: any Storage
    ) async throws {
        do {
            try await storage.write { writing in
                _ = try writing.query(statement, values)
                throw RolledBack()
            }
        } catch let fault as StorageFault where fault.code != .constraint {
            Issue.record("\(statement.name): \(fault)")
        } catch is StorageFault {} catch is RolledBack {}
    }

    private static func nothing(_ type: SQLType) -> SQLValue {
        switch type {
        case .integer: .integer(0)
        case .text: .text("")
        case .blob: .blob([])
        case .boolean: .boolean(false)
        }
    }

    @Test(arguments: [
        (["Shop", "Work"], [Kind.registry, .realm]), (["Ledger"], [.ledger]),
    ])
    func `no statement is forgotten, and none is named twice`(
        modules: [String], kinds: [Kind]
    ) throws {
        let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../Sources").standardized
        var written: [String] = []
        let files = modules.flatMap { module in
            FileManager.default.enumerator(
                at: sources.appendingPathComponent(module), includingPropertiesForKeys: nil)?
                .compactMap { $0 as? URL } ?? []
        }
        for file in files where file.pathExtension == "swift" {
            let text = try String(contentsOf: file, encoding: .utf8)
            written += text.matches(
                of:
                    #/Statement(?:\.(?:insert|put|set|one|remove|list))?\(\s*"(?<name>[^"]+)"/#
            )
            .map { String($0.output.name) }
        }
        // Those that are made from a table's columns are named by it.
        written.removeAll { $0.contains("\\(") }
        let copied = HouseCopy.all.flatMap { [$0.list, $0.upsert, $0.remove] }
        let restores =
            Statement.Restores.registryReferences + Statement.Restores.realmReferences
        let checks =
            (restores + Statement.Upkeep.references).map(\.statement) + PersonalData.exports
        let imported = Statement.Catalogues.imported.dropLast()
        let cleared =
            Statement.Resets.clear + Statement.Clearing.deletions
            + Statement.Clearing.atHome.dropFirst()
        let saved = SnapshotTable.cleared + SnapshotTable.all.flatMap(\.statements)
        let made = Set((copied + cleared + checks + imported + saved).map(\.name))

        let listed = kinds.flatMap(\.statements).map(\.name).filter { !made.contains($0) }

        #expect(written.sorted() == listed.sorted())
        #expect(Set(listed).count == listed.count)
    }
}
