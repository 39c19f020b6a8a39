// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Commerce

@Suite(.unforgiven) struct BucketMapTests {
    @Test(arguments: [
        ("500-999", "500-999"), ("0", "0"), ("7-9,1,3", "1,3,7-9"), ("0-4,5-9", "0-9"),
        ("0-999", "0-999"), ("007", "7"),
    ])
    func `ranges are read and written one way`(text: String, canonical: String) throws {
        #expect(try BucketRanges(text).description == canonical)
        #expect(try BucketRanges(canonical) == BucketRanges(text))
    }

    @Test(arguments: [
        "", "-", "1-", "-1", "1000", "0-1000", "9-3", "a", "1,,2", "1-2-3", "٣", "+1", " 1",
    ])
    func `what names no buckets is refused`(text: String) {
        #expect(throws: BucketFault.noRange(text)) { try BucketRanges(text) }
    }

    @Test func `a bucket named twice is reported`() throws {
        #expect(throws: BucketFault.twice(3)) { try BucketRanges("1-3,3") }
        let (one, other) = (try BucketRanges("1-500"), try BucketRanges("500-999"))
        #expect(throws: BucketFault.twice(500)) { try BucketMap(others: [one, other]) }
    }

    @Test func `one cluster has everything, and customer 0 is at the home`() {
        #expect(BucketMap.whole.count == 1)
        #expect(BucketMap.whole.ranges.first??.description == "0-999")
        #expect((0..<2000).allSatisfy { BucketMap.whole.cluster(of: $0) == 0 })
    }

    @Test func `a home without buckets still has customer 0`() throws {
        let map = try BucketMap(others: [BucketRanges("0-999")])

        #expect(map.ranges == [nil, try BucketRanges("0-999")])
        #expect(map.cluster(of: 0) == 0)
        #expect(map.cluster(of: 1_000_000_000_000_000) == 1)
    }

    @Test(arguments: 0..<20)
    func `every bucket is on exactly the cluster that names it`(seed: UInt64) throws {
        var generator = SeededGenerator(seed)
        let owners = (0..<1000).map { _ in Int.random(in: 0...3, using: &generator) }
        let others = try (1...3).map { owner in
            try BucketRanges(
                owners.indices.filter { owners[$0] == owner }.map { Int64($0)...Int64($0) })
        }

        let map = try BucketMap(others: others)

        for kind in IDKind.allCases {
            for bucket in owners.indices {
                let number = NumberLayout(
                    kind: kind, count: Int64.random(in: 0..<1_000_000, using: &generator),
                    bucket: Int64(bucket)
                ).number
                #expect(map.cluster(of: number) == owners[bucket])
                #expect(
                    map.ranges.filter { $0?.contains(Int64(bucket)) == true }.count == 1)
            }
        }
    }
}
