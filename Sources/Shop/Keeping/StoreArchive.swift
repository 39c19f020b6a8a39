// SPDX-License-Identifier: Apache-2.0

import Archive
import Commerce
import SignedData
import Storage

/// A store's backup that was read to its end. Every value was checked before
/// any of it is written, because the backup may come from a stranger.
struct StoreArchive {
    let contents: ArchiveContents

    init(path: String) throws {
        let facts = Facts()
        contents = try ArchiveContents(
            path: path, holds: StoreBackup.holds, judge: Self.judge(facts))
        try check(facts)
    }

    init(bytes: [UInt8], name: String) throws {
        let facts = Facts()
        contents = try ArchiveContents(
            bytes: bytes, name: name, holds: StoreBackup.holds, judge: Self.judge(facts))
        try check(facts)
    }

    private struct RealmFacts: Hashable {
        let id: String
        let name: String
        let environment: Environment

        init(_ row: Row) throws {
            id = try row.text("id")
            name = try row.text("name")
            environment = Environment(rawValue: try row.text("environment"))
        }
    }

    /// Facts from rows of one database that are compared with another. A class,
    /// because the judge's closure collects them.
    private final class Facts {
        /// The realms in the registry that are not deleted.
        var live: [RealmFacts] = []
        /// Each realm's own row, by the id in its database's name.
        var own: [String: RealmFacts] = [:]

        func add(_ database: String, _ table: String, _ row: Row) throws {
            if table == "realms", try row.optionalInteger("deleted_at") == nil {
                live.append(try RealmFacts(row))
            } else if table == "realm", let id = StoreArchiveRules.realmID(database) {
                own[id] = try RealmFacts(row)
            }
        }
    }

    private static func judge(_ facts: Facts) -> ArchiveJudge {
        StoreArchiveRules.judge { database, table, row in
            do { try facts.add(database, table, row) } catch {
                return BrokenRule("id", "a realm's id, name and environment")
            }
            return nil
        }
    }

    private func check(_ facts: Facts) throws {
        let held = Set(contents.databases.compactMap { StoreArchiveRules.realmID($0.name) })
        let isWhole =
            Set(facts.live.map(\.id)) == held && facts.live.count == held.count
            && Set(facts.live.map(\.name)).count == held.count
            && facts.live.allSatisfy { facts.own[$0.id] == $0 }
        guard isWhole else {
            throw invalid(
                "the realms",
                "a database for each realm that is not deleted, with its id, name and environment")
        }
        for (kind, next) in contents.numbers {
            guard ValueRule.numberKind.admits(.integer(kind)),
                ValueRule.nextCount.admits(.integer(next))
            else {
                throw invalid(
                    "a next number",
                    "kinds: \(ValueRule.numberKind.words); counts: "
                        + ValueRule.nextCount.words)
            }
        }
        for (name, bytes) in contents.keys {
            guard StoreArchiveRules.isKeyName(name), bytes.count <= FileKeyStore.bytesMax,
                Authorities.isSound(name, in: contents.keys)
            else {
                throw invalid(
                    "a key", "plain names, and authorities whose certificates and keys match")
            }
        }
    }

    private func invalid(_ place: String, _ rule: String) -> ArchiveFault {
        ArchiveContents.invalid(contents.path, place, rule)
    }
}

extension StoreRestore {
    /// Checks a backup like a restore does before it writes anything. Throws
    /// ``ArchiveFault``.
    public static func check(_ bytes: [UInt8], name: String) throws {
        _ = try RestorePlan(try StoreArchive(bytes: bytes, name: name).contents)
    }
}
