// SPDX-License-Identifier: Apache-2.0

/// Some of the thousand buckets, written as `500-999` or `1,3,7-9`. Never
/// empty.
public struct BucketRanges: Hashable, Sendable, CustomStringConvertible {
    /// In ascending order. No range touches the next.
    public let ranges: [ClosedRange<Int64>]

    /// Throws ``BucketFault`` if the text is not a list of ranges of buckets,
    /// or names a bucket twice.
    public init(_ text: String) throws(BucketFault) {
        var ranges: [ClosedRange<Int64>] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let ends = part.split(separator: "-", omittingEmptySubsequences: false)
            guard (1...2).contains(ends.count), let first = Self.bucket(ends[0]),
                let last = Self.bucket(ends[ends.count - 1]), first <= last
            else { throw .noRange(text) }
            ranges.append(first...last)
        }
        try self.init(ranges)
    }

    /// Throws ``BucketFault`` if there is no range, a number is not a bucket,
    /// or a bucket occurs twice.
    public init(_ ranges: [ClosedRange<Int64>]) throws(BucketFault) {
        guard !ranges.isEmpty else { throw .noRange("") }
        var joined: [ClosedRange<Int64>] = []
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            guard range.lowerBound >= 0, range.upperBound < NumberLayout.buckets else {
                throw .noRange("\(range.lowerBound)-\(range.upperBound)")
            }
            if let last = joined.last {
                guard range.lowerBound > last.upperBound else { throw .twice(range.lowerBound) }
                if range.lowerBound == last.upperBound + 1 {
                    joined[joined.count - 1] = last.lowerBound...range.upperBound
                    continue
                }
            }
            joined.append(range)
        }
        self.ranges = joined
    }

    /// Canonical: the same text for the same buckets, however they were
    /// written.
    public var description: String {
        ranges.map {
            $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)"
        }.joined(separator: ",")
    }

    public func contains(_ bucket: Int64) -> Bool {
        ranges.contains { $0.contains(bucket) }
    }

    private static func bucket(_ text: Substring) -> Int64? {
        guard (1...3).contains(text.utf8.count), text.utf8.allSatisfy({ (48...57).contains($0) })
        else { return nil }
        return Int64(text)
    }
}

/// Assigns each bucket to exactly one cluster. Cluster 0 is the home, which has
/// all buckets that no other cluster names.
public struct BucketMap: Hashable, Sendable {
    /// The cluster of each bucket, by bucket.
    private let clusters: [Int]
    /// The buckets of each cluster, the home first. Nil for a cluster without
    /// buckets.
    public let ranges: [BucketRanges?]

    /// All buckets are at the home.
    public static let whole = BucketMap()

    private init() {
        clusters = Array(repeating: 0, count: Int(NumberLayout.buckets))
        ranges = [try? BucketRanges([0...NumberLayout.buckets - 1])]
    }

    /// Gives the other clusters, from cluster 1 on, the buckets that they name.
    /// Throws ``BucketFault`` `twice` if two of them name the same bucket.
    public init(others: [BucketRanges]) throws(BucketFault) {
        var clusters = Array(repeating: 0, count: Int(NumberLayout.buckets))
        for (index, other) in others.enumerated() {
            for bucket in other.ranges.joined() {
                guard clusters[Int(bucket)] == 0 else { throw .twice(bucket) }
                clusters[Int(bucket)] = index + 1
            }
        }
        self.clusters = clusters
        let left = clusters.indices.filter { clusters[$0] == 0 }.map { Int64($0)...Int64($0) }
        let home = left.isEmpty ? nil : try BucketRanges(left)
        ranges = [home] + others
    }

    /// The number of clusters, including the home.
    public var count: Int { ranges.count }

    /// Returns the cluster of a number of any kind, from the bucket that it
    /// ends with. A value that is not a number of ours belongs to the home.
    public func cluster(of number: Int64) -> Int {
        number > 0 ? clusters[Int(number % NumberLayout.buckets)] : 0
    }
}

/// Why buckets cannot be divided this way.
public enum BucketFault: Error, Hashable, CustomStringConvertible {
    /// The text does not name a range of buckets.
    case noRange(String)
    /// A bucket is named twice.
    case twice(Int64)

    public var description: String {
        switch self {
        case .noRange(let text): "`\(text)` names no buckets"
        case .twice(let bucket): "bucket \(bucket) is named twice"
        }
    }

    /// The rule that both violate.
    public static let rule =
        "buckets 0 to \(NumberLayout.buckets - 1), as `500-999` or `1,3,7-9`, each on one cluster"
}
