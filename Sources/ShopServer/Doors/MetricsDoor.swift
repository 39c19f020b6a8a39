// SPDX-License-Identifier: Apache-2.0

import HTTPShell
import Hummingbird
import Shop

/// Returns the figures of this process in Prometheus' text format.
struct MetricsDoor: Sendable {
    let store: Store
    let call: Call

    init(_ visit: Visit) {
        store = visit.store
        call = visit.call
    }

    func text() async throws -> Response {
        let realms = try await store.figures()
        var figures = Self.errands(realms)
        figures.append(
            Figure(
                "shopkeeper_realm_waiting", .gauge, "Devices that wait, of each realm.",
                realms.map { .init(Double($0.waiting), labels: [("realm", $0.realm)]) }))
        let clusters = realms.flatMap { realm in
            realm.clusters.sorted { $0.key < $1.key }.map { buckets, answers in
                Figure.Sample(
                    answers ? 1 : 0, labels: [("realm", realm.realm), ("buckets", buckets)])
            }
        }
        if !clusters.isEmpty {
            figures.append(
                Figure(
                    "shopkeeper_cluster_up", .gauge,
                    "Whether a cluster of a realm answers; the home is not among them.",
                    clusters))
        }
        return call.figures.response(figures, commits: store.commits)
    }

    private static func errands(_ realms: [RealmFigures]) -> [Figure] {
        func figure(
            _ name: String, _ help: String, _ value: (RealmFigures.ErrandCounts) -> Int64
        ) -> Figure {
            Figure(
                "shopkeeper_errands_\(name)", .gauge, help,
                realms.flatMap { realm in
                    realm.errands.map { errands in
                        .init(
                            Double(value(errands)),
                            labels: [("realm", realm.realm), ("kind", errands.kind)])
                    }
                })
        }
        return [
            figure("owed", "Calls to others that are owed, due or not.") { $0.owed },
            figure("due", "Calls to others that are due.") { $0.due },
            figure("failed", "Calls to others that failed and are owed still.") { $0.failed },
            figure("oldest_seconds", "For how long the oldest has been due, commercial time.") {
                $0.oldestSeconds
            },
        ]
    }
}
