// SPDX-License-Identifier: Apache-2.0

import Commerce
import Shop

/// The values of `--cluster BUCKETS=CONNINFO`.
struct ServedClusters {
    private let clusters: [(buckets: BucketRanges, conninfo: String)]

    /// Throws if a text is not a pair, or if buckets are invalid or occur
    /// twice.
    init(_ texts: [String]) throws {
        clusters = try texts.map { text in
            let parts = text.split(separator: "=", maxSplits: 1)
            guard parts.count == 2 else {
                throw Self.failure("`--cluster` names buckets and a PostgreSQL.")
            }
            do { return (try BucketRanges(String(parts[0])), String(parts[1])) } catch {
                throw Self.failure("\(error)".prefix(1).uppercased() + "\(error)".dropFirst() + ".")
            }
        }
        do { _ = try BucketMap(others: clusters.map(\.buckets)) } catch {
            throw Self.failure("\(error)".prefix(1).uppercased() + "\(error)".dropFirst() + ".")
        }
    }

    /// Replaces `BUCKETS=@FILE` by the contents of the file.
    static func withSecret(_ text: String) throws -> String {
        guard let sign = text.firstIndex(of: "=") else { return text }
        let start = text.index(after: sign)
        return text[..<start] + (try SecretFile.value(String(text[start...]), field: "--cluster"))
    }

    var isEmpty: Bool { clusters.isEmpty }

    func databases(
        _ database: (_ conninfo: String) -> ServedDatabase
    ) -> [(buckets: BucketRanges, database: ServedDatabase)] {
        clusters.map { ($0.buckets, database($0.conninfo)) }
    }

    func places(_ database: (_ conninfo: String) -> ServedDatabase) -> [ClusterPlace] {
        databases(database).map { $0.database.cluster($0.buckets) }
    }

    /// Files belong to one machine and have no clusters.
    static let needDatabase = Failure(
        .usage, "clusterWithoutDatabase", "Only a store on PostgreSQL has clusters.",
        field: "--cluster", rule: "--database names the home",
        remedy: "add --database, or leave --cluster out")

    private static func failure(_ message: String) -> Failure {
        Failure(
            .usage, "clusterInvalid", message, field: "--cluster", rule: BucketFault.rule,
            remedy: "give --cluster 500-999=postgres://…; the home has what no cluster names")
    }
}
