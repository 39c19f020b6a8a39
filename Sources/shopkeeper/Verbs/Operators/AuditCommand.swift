// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import StoreWire

struct AuditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit", abstract: "Administrative changes in a realm or in the store.",
        subcommands: [List.self])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List who changed what, oldest first.")

        @Flag(
            name: .customLong("store"),
            help: "Changes of the store: realms, operators, certificates.")
        var ofStore = false
        @OptionGroup var store: StoreOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let found = try store.store()
            let door = ofStore ? found.storeDoor : found.operatorDoor
            let path = ofStore ? "/store-audit" : "/audit"
            var entries: [AuditRecord] = []
            var query = ""
            var away: [String] = []
            while true {
                let page = try await door.get(path + query, as: AuditRecords.self)
                entries += page.entries
                away += (page.clustersAway ?? []).filter { !away.contains($0) }
                guard let next = page.next else { break }
                query = "?after=\(next)"
            }
            try printing.show(
                entries,
                lines: Output.table(
                    entries.map { entry in
                        [
                            "\(entry.entry)", "\(entry.date)", entry.who, entry.deed,
                            entry.subject, entry.words,
                        ]
                    }))
            if !away.isEmpty {
                Output.complain([
                    "The clusters of these buckets do not answer: "
                        + away.joined(separator: ", ")
                        + ". Their newest entries are missing; list the audit again later."
                ])
            }
        }
    }
}

extension AuditRecord {
    /// The changed fields. Only the values of what was made or removed.
    fileprivate var words: String {
        let isMade = changes.allSatisfy { $0.before == nil }
        let isRemoved = changes.allSatisfy { $0.after == nil }
        return changes.map { change in
            let (before, after) = (change.before ?? "none", change.after ?? "none")
            let values = isMade ? after : isRemoved ? before : "\(before) -> \(after)"
            return "\(change.field): \(values)"
        }.joined(separator: "; ")
    }
}
