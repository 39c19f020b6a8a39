// SPDX-License-Identifier: Apache-2.0

import CForgetfulDisk
import Dispatch
import Foundation
import Storage
import TestSupport
import Testing

@testable import StorageSQLite

/// A process dies, the next one answers from what it left, and then the power
/// fails: what an answer rested on must be there.
@Suite(.timeLimit(.minutes(5))) struct EarlierLifeTests {
    private let folder: TemporaryFolder
    private let file: String

    init() throws {
        folder = try temporaryFolder("earlierlife")
        file = folder.file("shelf.sqlite")
        #expect(forgetful_disk_register() == 0)
    }

    private func open(_ file: String) async throws -> SQLiteStorage {
        try await SQLiteStorage.open(
            file: file, migrations: Shelf.migrations,
            options: SQLiteOptions(vfs: String(cString: forgetful_disk_name), busySeconds: 0.05))
    }

    /// What a process answers until it is killed before an operation. Its
    /// files stay as the kernel has them, synced or not.
    private func killed(_ file: String, before operation: Int) async -> Set<Int64> {
        forgetful_disk_limit(file, operation)
        var acknowledged: Set<Int64> = []
        if let storage = try? await open(file) {
            for id in Int64(1)...6 {
                do { try await storage.putJar(id, "jar \(id)") } catch { break }
                acknowledged.insert(id)
            }
            try? await storage.close()
        }
        forgetful_disk_limit(file, -1)
        return acknowledged
    }

    /// What the next process answers; then the power fails at once.
    private func seen(_ file: String) async throws -> Set<Int64> {
        let storage = try await open(file)
        let ids = try await Self.ids(storage)
        forgetful_disk_limit(file, 0)
        try? await storage.close()
        return ids
    }

    private func afterPowerFailure(_ file: String, seed: UInt64) async throws -> Set<Int64> {
        forgetful_disk_settle(file, seed)
        let storage = try await SQLiteStorage.open(file: file, migrations: Shelf.migrations)
        let ids = try await Self.ids(storage)
        try await storage.close()
        return ids
    }

    private static func ids(_ storage: any Storage) async throws -> Set<Int64> {
        let jars = PortStatement("jars.ids", "SELECT id FROM jars ORDER BY id")
        return try await storage.read { reading in
            Set(try reading.query(jars, []).map { try $0.integer("id") })
        }
    }

    @Test func `wherever a process is killed, the next one answers what lasts`() async throws {
        var more = 0
        for operation in 0..<60 {
            let file = folder.file("killed\(operation).sqlite")
            forgetful_disk_insert(file, -1)
            let acknowledged = await killed(file, before: operation)
            let seen = try await seen(file)
            #expect(acknowledged.isSubset(of: seen), "killed before \(operation)")
            more += seen.subtracting(acknowledged).count
            let left = try await afterPowerFailure(file, seed: UInt64(operation))
            #expect(seen.isSubset(of: left), "killed before \(operation)")
        }
        // Commits that nobody had heard of, and that the next process showed.
        #expect(more > 0)
    }

    /// The kernel takes pages for clean that it failed to write.
    @Test func `what a failed sync left is made durable before it is shown`() async throws {
        forgetful_disk_insert(file, -1)
        let storage = try await open(file)
        try await storage.putJar(1, "a")
        forgetful_disk_refuse_syncs(file, 1)
        let met = try await fault { try await storage.putJar(2, "b") }
        #expect(met?.code == .outcomeUnknown)
        try? await storage.close()
        forgetful_disk_refuse_syncs(file, 0)

        let seen = try await seen(file)

        #expect(seen == [1, 2])
        #expect(try await afterPowerFailure(file, seed: 1) == seen)
    }

    @Test func `after a failed sync a process shows and keeps only what lasts`() async throws {
        forgetful_disk_insert(file, -1)
        let storage = try await open(file)
        try await storage.putJar(1, "a")
        forgetful_disk_refuse_syncs(file, 1)
        _ = try await fault { try await storage.putJar(2, "b") }
        forgetful_disk_refuse_syncs(file, 0)
        #expect(try await Self.ids(storage) == [1])
        try await storage.putJar(3, "c")
        try await storage.putJar(2, "b")
        let seen = try await Self.ids(storage)
        forgetful_disk_limit(file, 0)
        try? await storage.close()

        #expect(seen == [1, 2, 3])
        #expect(try await afterPowerFailure(file, seed: 2) == seen)
    }

    @Test func `a log that cannot be made durable is not answered from`() async throws {
        forgetful_disk_insert(file, -1)
        let storage = try await open(file)
        try await storage.putJar(1, "a")
        forgetful_disk_refuse_syncs(file, 1)
        _ = try await fault { try await storage.putJar(2, "b") }
        try? await storage.close()
        let met = try await fault { try await open(file) }
        forgetful_disk_refuse_syncs(file, 0)
        #expect(met?.code == .unavailable)
        #expect(met?.reason.contains("an earlier process left") == true, "\(met?.reason ?? "")")
        forgetful_disk_settle(file, 3)
    }

    /// A reader keeps the log from being moved: it is synced where it is.
    @Test func `a process may begin while another one reads, and answers what lasts`()
        async throws
    {
        var more = 0
        for operation in 24..<60 {
            let file = folder.file("read\(operation).sqlite")
            forgetful_disk_insert(file, -1)
            let acknowledged = await killed(file, before: operation)
            // Made durable by nobody, and held by somebody who reads.
            guard let holder = try? Holder(file), await holder.hasBegun() else {
                forgetful_disk_settle(file, 0)
                continue
            }
            let seen = try await seen(file)
            more += seen.subtracting(acknowledged).count
            try await holder.end()
            let left = try await afterPowerFailure(file, seed: UInt64(operation))
            #expect(seen.isSubset(of: left), "killed before \(operation)")
        }
        #expect(more > 0)
    }

    /// Somebody who reads a file and does not end.
    private final class Holder: Sendable {
        private let reader: SQLiteReader
        private let gate = DispatchSemaphore(value: 0)
        private let began: AsyncStream<Bool>
        private let reading: Task<Void, Never>

        init(_ file: String) throws {
            let reader = try SQLiteReader(file: file)
            let (began, begin) = AsyncStream.makeStream(of: Bool.self)
            let gate = gate
            reading = Task {
                let count = try? await reader.read { transaction in
                    let count = try transaction.query(Shelf.count, []).count
                    begin.yield(true)
                    gate.wait(for: "the end of the read")
                    return count
                }
                begin.yield(count != nil)
                begin.finish()
            }
            (self.reader, self.began) = (reader, began)
        }

        /// False where there is nothing to read.
        func hasBegun() async -> Bool {
            for await isReading in began { return isReading }
            return false
        }

        func end() async throws {
            gate.signal()
            await reading.value
            try await reader.close()
        }
    }
}
