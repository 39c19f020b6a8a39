// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Commerce
import Shop

struct DatabaseStatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Report the state of the databases, served or not.")

    @OptionGroup var place: DatabaseOptions
    @OptionGroup var clusters: ClusterOptions
    @OptionGroup var printing: PrintOptions

    func run() async throws {
        let place = try place.place(clusters: clusters.cluster)
        let status = try await place.reading(withKeys: false) { try await StoreStatus($0) }
        let answer = DatabaseAnswer(status, place: place.words, isServed: place.isServed)
        try printing.show(answer, lines: answer.lines(Self.details(status)))
    }

    private static func details(_ status: StoreStatus) -> [String] {
        var lines = ["  registry: \(words(status.registry))"]
        if status.isHalfAdvanced { lines.append("  HALF ADVANCED: advance it again") }
        for realm in status.realms {
            lines.append(
                "  \(realm.environment) \(realm.name) (\(realm.id)): \(words(realm.schema)), "
                    + "generation \(realm.generation), \(realm.bytes) bytes")
            lines.append(
                "    " + counts(realm.rows, realm.errands, oldest: realm.oldestErrandDue))
            for cluster in realm.clusters ?? [] { lines += words(cluster) }
        }
        return lines
    }

    private static func words(_ cluster: StoreStatus.ClusterStatus) -> [String] {
        let name = "    buckets \(cluster.buckets): "
        guard let holding = cluster.holding else {
            switch cluster.state {
            case "notNamed":
                return [
                    name + "on a cluster of their own; `--cluster \(cluster.buckets)=…` says where"
                ]
            case "away": return [name + "DOES NOT ANSWER"]
            default: return [name + "this database has nothing of the realm"]
            }
        }
        let known = cluster.state == "here" ? "" : ", NOT KNOWN TO THE HOME"
        return [
            name + "\(words(holding.schema)), generation \(holding.generation), "
                + "\(holding.bytes) bytes" + known,
            "      " + counts(holding.rows, holding.errands, oldest: holding.oldestErrandDue),
        ]
    }

    private static func counts(
        _ rows: [String: Int64], _ errands: Int64, oldest: Timestamp?
    ) -> String {
        let due = oldest.map { ", the oldest due \($0)" } ?? ""
        return "\(rows["customers"] ?? 0) customers, \(rows["transactions"] ?? 0) transactions, "
            + "\(errands) errands owed\(due)"
    }

    private static func words(_ schema: StoreStatus.Schema) -> String {
        "schema \(schema.taken) of \(schema.known), \(schema.state)"
    }
}
