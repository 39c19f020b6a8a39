// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import StoragePostgres

@Suite(.unforgiven) struct PostgresSnapshotTests {
    private func snapshot(_ text: String) throws -> PostgresSnapshot {
        try #require(PostgresSnapshot(text))
    }

    @Test func `a snapshot is read as the server writes it`() throws {
        let snapshot = try snapshot("10:20:10,14,19")

        #expect((8...21).filter { snapshot.sees($0) } == [8, 9, 11, 12, 13, 15, 16, 17, 18])
        #expect(try self.snapshot("7:7:").sees(6))
        for text in ["", "1", "1:2", "a:2:", "1:b:", "1:9:x", "1:9:3,,4x"] {
            #expect(PostgresSnapshot(text) == nil, "\(text)")
        }
    }

    @Test func `what a commit proves is what it saw, and itself`() throws {
        let table: [(own: UInt64, seen: String, sees: [UInt64])] = [
            (10, "10:10:", [8, 9, 10]), (10, "9:9:", [8, 10]), (10, "8:12:8,9", [10]),
            (10, "9:12:9,11", [8, 10]), (12, "9:10:9", [8, 12]),
        ]
        for (own, seen, sees) in table {
            let proven = try #require(
                PostgresSnapshot(committed: own, seeing: try snapshot(seen)))
            #expect((8...14).filter { proven.sees($0) } == sees, "\(own) after \(seen)")
        }
        // Too far apart to keep the numbers between.
        #expect(PostgresSnapshot(committed: 1_000_000, seeing: try snapshot("9:9:")) == nil)
    }

    @Test(arguments: Seeds.all)
    func `within and union are those of the sets`(seed: UInt64) throws {
        var generator = SeededGenerator(seed)
        func any() throws -> PostgresSnapshot {
            let end = generator.integer(in: 1...12)
            let running = (1..<max(2, end)).filter { _ in generator.integer(in: 0...2) == 0 }
            return try snapshot("1:\(end):" + running.map(String.init).joined(separator: ","))
        }
        for _ in 0..<500 {
            let (one, another) = (try any(), try any())
            let numbers = UInt64(0)...14
            let both = one.union(another)
            for number in numbers {
                #expect(both.sees(number) == (one.sees(number) || another.sees(number)))
            }
            let isWithin = numbers.allSatisfy { !one.sees($0) || another.sees($0) }
            // A last number that still runs may only make it stricter.
            #expect(!one.isWithin(another) || isWithin)
            if one.end <= another.end { #expect(one.isWithin(another) == isWithin) }
        }
    }
}
