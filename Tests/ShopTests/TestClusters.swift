// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import Storage
import TestSupport

@testable import Shop
@testable import Work

/// `SHOPKEEPER_TEST_CLUSTERS=2` shares out the customers of every test's
/// realms: two databases each, on PostgreSQL in two clusters.
enum TestClusters {
    static let areShared =
        ProcessInfo.processInfo.environment["SHOPKEEPER_TEST_CLUSTERS"] == "2"

    /// Half of all buckets. Those of small counts alternate, for tests make
    /// few customers; the first one, whom most of them are about, is far.
    static let far = "0,2,4,6,8,10-499"

    /// The second throw-away cluster, started at first use.
    static func second() async throws -> PostgresCluster { try await starting.value }

    private static let starting = Task { try await PostgresCluster() }
}

extension Realm {
    /// Where the first customer is, whom most tests are about.
    var storage: any Storage { clusters.of(number: Self.firstCustomer) }

    /// What all databases answer to a question, the home's rows first.
    func rows(_ statement: Statement, _ values: [SQLValue] = []) async throws -> [Row] {
        try await clusters.readAll { try $0.query(statement, values) }.flatMap { $0 }
    }

    /// The sum of a column `n` over all databases.
    func sum(_ statement: Statement) async throws -> Int64 {
        try await rows(statement).reduce(0) { $0 + (try $1.integer("n")) }
    }

    /// On the cluster of the first customer.
    func claim(_ running: RunningLanes) async throws -> (errands: [Errand], next: Duration?) {
        try await worker.claim(running, in: clusters.map.cluster(of: Self.firstCustomer))
    }

    var bell: WorkBell { bells[clusters.map.cluster(of: Self.firstCustomer)] }

    private static var firstCustomer: Int64 {
        NumberLayout(kind: .customer, count: 0, bucket: 0).number
    }
}
