// SPDX-License-Identifier: Apache-2.0

import Commerce
public import Storage

/// Records which buckets each database of a realm has, when the realm is
/// created, and verifies it at every opening. So a customer's facts are read
/// and written in only one place.
///
/// The home stores a random mark for each other cluster, and that cluster
/// carries it. If the home knows a cluster as founded and it has no mark, it is
/// not the original one, and nothing is sold from it.
enum Founding {
    /// The home's buckets as its database stores them. Nil for all.
    static func text(_ map: BucketMap) -> String? {
        map.count == 1 ? nil : map.ranges[0]?.description ?? nothing
    }

    /// Stored by a home that has no customers.
    static let nothing = "none"

    /// Verifies that the home was created with this map. Returns the marks of
    /// the other clusters in the order of the map.
    static func marks(
        _ map: BucketMap, realm: String, _ reading: any Reading
    ) throws -> [String] {
        guard let row = try reading.first(Statement.Clustering.own) else {
            throw StorageFault(.malformedRow, "the realm has no row")
        }
        let known = try row.optionalText("buckets")
        var marks: [String: String] = [:]
        for row in try reading.query(Statement.Clustering.others, []) {
            marks[try row.text("buckets")] = try row.text("cluster")
        }
        let wanted = map.ranges.dropFirst().compactMap { $0?.description }
        guard try row.optionalText("cluster") == nil, known == text(map),
            Set(marks.keys) == Set(wanted)
        else {
            let was = ["home \(known ?? "0-999")"] + marks.keys.sorted()
            let now = ["home \(text(map) ?? "0-999")"] + wanted
            throw StorageFault(
                .otherClusters,
                "realm \(realm) is shared out as \(was.joined(separator: "; ")), "
                    + "and was to be served as \(now.joined(separator: "; "))")
        }
        return wanted.compactMap { marks[$0] }
    }

    /// Writes the map in the commit that creates a realm's home.
    static func write(
        _ map: BucketMap, marks: [String], _ writing: any Writing
    ) throws {
        for (mark, ranges) in zip(marks, map.ranges.dropFirst()) {
            guard let ranges else { continue }
            try writing.execute(
                Statement.Clustering.insert,
                RealmSchema.clusters.row([
                    "cluster": .text(mark), "buckets": .text(ranges.description),
                    "audit_carried": .integer(0),
                ]))
        }
    }

    /// Verifies that a database is the cluster with this mark. A new database
    /// is founded now. The home is updated last, and from then on expects the
    /// mark.
    static func prove(
        _ mark: String, _ buckets: BucketRanges, of row: RealmRow, in far: any Storage,
        home: any Storage, at wall: Timestamp
    ) async throws {
        let isFounded = try await home.read { reading in
            try reading.first(Statement.Clustering.one, [.text(mark)])?
                .optionalInteger("founded_at") != nil
        }
        let name = "cluster \(buckets) of realm \(row.id)"
        try await far.write { writing in
            if let own = try writing.first(Statement.Clustering.own) {
                guard try own.text("id") == row.id, try own.optionalText("cluster") == mark,
                    try own.optionalText("buckets") == buckets.description
                else {
                    throw StorageFault(
                        .otherClusters,
                        "\(name): this database holds other buckets, "
                            + "or those of another realm")
                }
                return
            }
            guard !isFounded else {
                throw StorageFault(
                    .otherClusters, "\(name): this database is empty, and held customers before")
            }
            try writing.execute(
                Statement.Clustering.found,
                row.born(generation: 0, house: -1, buckets: buckets.description, mark: mark))
            try writing.execute(Statement.Clustering.insertClock, RealmClock.bornRow)
        }
        guard !isFounded else { return }
        try await home.write { writing in
            try writing.execute(
                Statement.Clustering.setFounded, [.text(mark), .integer(wall.milliseconds)])
        }
    }
}

extension RealmRow {
    /// Returns the row of the realm in a new database.
    func born(generation: Int64, house: Int64, buckets: String?, mark: String? = nil) -> [SQLValue]
    {
        RealmSchema.realm.row([
            "singleton": .integer(1), "id": .text(id), "name": .text(name),
            "environment": .text(environment.rawValue), "seed": .optional(seed),
            "generation": .integer(generation), "reset_generation": .integer(0),
            "catalogue_revision": .integer(0), "house_revision": .integer(house),
            "audit_count": .integer(0), "clocks_made": .integer(0), "buckets": .optional(buckets),
            "cluster": .optional(mark),
        ])
    }
}

extension RealmClock {
    /// The row of the clock that a new realm has.
    static let bornRow = RealmSchema.clocks.row([
        "clock_id": .integer(0), "clock_ahead": .integer(0), "clock_rate": .integer(1),
        "clock_since": .integer(0),
    ])
}

extension StorageFault.Code {
    /// A realm's customers are divided among clusters in another way than the
    /// server was configured, or than this program supports.
    public static let otherClusters = StorageFault.Code("otherClusters")
}

extension Statement {
    /// Statements about the databases of a realm and their relation.
    enum Clustering {
        static let own = Statement(
            "clusters.own", [], "SELECT id, buckets, cluster, house_revision FROM realm")

        static let others = Statement(
            "clusters.others", [], "SELECT cluster, buckets FROM clusters ORDER BY cluster")

        static let one = Statement(
            "clusters.one", [.text],
            "SELECT founded_at, audit_carried FROM clusters WHERE cluster = $1")

        static let insert = Statement.insert(
            "clusters.insert", into: RealmSchema.clusters, "ON CONFLICT (cluster) DO NOTHING")

        static let found = Statement.insert("clusters.found", into: RealmSchema.realm)

        static let setFounded = Statement(
            "clusters.setFounded", [.text, .integer],
            "UPDATE clusters SET founded_at = COALESCE(founded_at, $2) WHERE cluster = $1")

        /// Returns a row if this call is the first one that carries the
        /// entries.
        static let setCarried = Statement(
            "clusters.setCarried", [.text, .integer, .integer],
            """
            UPDATE clusters SET audit_carried = $3 WHERE cluster = $1 AND audit_carried = $2
            RETURNING cluster
            """)

        static let arrive = Statement.insert("arrivals.insert", into: RealmSchema.arrivals)

        static let arrivals = Statement(
            "arrivals.page", [.integer, .integer],
            """
            SELECT \(RealmSchema.arrivals.list()) FROM arrivals
            WHERE customer_id > $1 ORDER BY customer_id LIMIT $2
            """)

        static let arrival = Statement(
            "arrivals.one", [.integer],
            """
            SELECT \(RealmSchema.arrivals.list()) FROM arrivals
            WHERE customer_id = $1
            """)

        /// Does not change an existing row, because the customer may have
        /// changed since.
        static let settle = Statement.insert(
            "arrivals.settle", into: RealmSchema.customers,
            "ON CONFLICT (customer_id) DO NOTHING")

        static let arrived = Statement(
            "arrivals.remove", [.integer], "DELETE FROM arrivals WHERE customer_id = $1")

        static let owner = Statement(
            "arrivals.owner", [.text], "SELECT customer_id FROM sign_in_names WHERE name = $1")

        static let insertClock = Statement.insert(
            "clusters.insertClock", into: RealmSchema.clocks, "ON CONFLICT (clock_id) DO NOTHING")

        static let all = [
            insertClock, own, others, one, insert, found, setFounded, setCarried, arrive, arrivals,
            arrival, settle, arrived, owner,
        ]
    }
}
