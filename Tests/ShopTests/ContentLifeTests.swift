// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import Storage
import StoreWire
import Testing

@testable import Shop

/// Uploads and packages across ends of processes, processes at the same time, missing
/// files, and changes of the realm.
@Suite(.timeLimit(.minutes(5))) struct ContentLifeTests {
    @Test func `an upload continues after the end of the process, whatever its step`()
        async throws
    {
        let world = try await ContentWorld()
        let zip = try ContentWorld.package(filler: 3000)
        try await world.begin(zip)
        try await world.restart()
        for offset in stride(from: 0, to: zip.count, by: 1000) {
            #expect(try await world.begin(zip).received == Int64(offset))
            let end = min(offset + 1000, zip.count)
            try await world.append(Array(zip[offset..<end]), at: offset)
            try await world.restart()
        }
        #expect(try await world.states() == ["1.0 processing"])

        // The bytes have their name, and the process ends before the row says so.
        let row = try await world.room.row(ContentKey(ContentWorld.app, "pro", "1.0"))
        let kept = try await world.files.keep(world.room.upload(row)) { _ in }
        try await world.restart()
        let resumed = try await world.begin(zip)
        let ready = try await world.complete()

        #expect(kept == .kept && resumed.received == Int64(zip.count))
        #expect(ready.state == "ready")
    }

    @Test func `a locked upload is busy, and not discarded`() async throws {
        let world = try await ContentWorld()
        let zip = try ContentWorld.package()
        try await world.begin(zip)
        try await world.append([zip[0]], at: 0)
        let row = try await world.room.row(ContentKey(ContentWorld.app, "pro", "1.0"))
        let path = ContentFolder(path: world.folder).upload(world.room.upload(row))
        let other = try #require(try ContentFolder(path: world.folder).open(path, O_RDWR))

        let isMine = try other.lock()
        let piece = try await refusal { try await world.append([zip[1]], at: 1) }
        let end = try await world.code { try await world.complete() }
        try await world.files.discard(world.room.upload(row))

        #expect(isMine && piece.error.code == "contentBusy" && end == "contentBusy")
        #expect(try await world.files.received(world.room.upload(row)) == 1)
        // Its name belongs to another file now: its writer must begin again.
        try FileManager.default.removeItem(atPath: path)
        #expect(try !other.lock())
    }

    @Test func `two processes that upload the same package get one version`() async throws {
        let world = try await ContentWorld()
        let zip = try ContentWorld.package(filler: 20_000)
        let room = world.room
        let request = BeginContentRequest(
            version: "1.0", length: Int64(zip.count), sha256: ContentWorld.digest(zip))

        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<3 {
                group.addTask {
                    try await Self.upload(zip, request, room)
                }
            }
            try await group.waitForAll()
        }

        #expect(try await world.states() == ["1.0 ready"])
        let deeds = try await world.realm.auditEntries().entries.map(\.deed)
        #expect(deeds.filter { $0.hasPrefix("content.") } == ["content.begin", "content.complete"])
    }

    /// As the command uploads.
    private static func upload(
        _ zip: [UInt8], _ request: BeginContentRequest, _ room: ContentRoom
    ) async throws {
        let (app, product) = (ContentWorld.app, ContentWorld.product)
        var record = try await room.begin(
            request, product: product, bundleID: app, TestWorld.context
        ).record
        for _ in 0..<100_000 where record.state != "ready" {
            let offset = Int(record.received ?? 0)
            do {
                if offset < zip.count {
                    record = try await room.append(
                        Array(zip[offset..<min(offset + 4000, zip.count)]), at: Int64(offset),
                        to: "1.0", product: product, bundleID: app)
                } else {
                    record = try await room.complete(
                        "1.0", product: product, bundleID: app, TestWorld.context)
                }
            } catch is Refusal {
                record = try await room.version("1.0", product: product, bundleID: app)
            }
        }
    }

    @Test func `a version without its bytes is named, and the same upload mends it`()
        async throws
    {
        let world = try await ContentWorld()
        let (zip, number, session, link) = try await world.sold()
        let package = ContentFolder(path: world.folder).package(link.sha256)
        try FileManager.default.removeItem(atPath: package)

        let refused = [
            try await refusal { _ = try await world.open(link.url) },
            try await refusal {
                _ = try await world.room.link(number, ContentRequest(), session)
            },
        ]
        let missing = try await world.states()
        let again = try await world.begin(zip)
        try await world.append(zip, at: 0)
        try await world.complete()

        #expect(refused.map(\.error.code) == ["contentMissing", "contentMissing"])
        #expect(refused.map(\.kind.status) == [503, 503] && missing == ["1.0 missing"])
        #expect(again.isMissing == true && again.received == 0)
        #expect(try await world.states() == ["1.0 ready"])
        #expect(try await world.open(link.url).length == Int64(zip.count))
    }

    @Test func `a damaged package is found, and an upload of the same bytes replaces it`()
        async throws
    {
        let world = try await ContentWorld()
        let (zip, _, _, link) = try await world.sold()
        let package = ContentFolder(path: world.folder).package(link.sha256)
        func isMissing() async throws -> Bool? {
            try await world.room.version(
                "1.0", product: ContentWorld.product, bundleID: ContentWorld.app,
                readsBytes: true
            ).isMissing
        }
        #expect(try await isMissing() == nil)
        #expect(try await world.begin(zip).isMissing == nil)

        var spoilt = zip
        spoilt[zip.count / 2] ^= 1
        try Data(spoilt).write(to: URL(fileURLWithPath: package))
        #expect(try await isMissing() == true)
        #expect(try await world.states() == ["1.0 ready"])
        #expect(try await world.begin(zip).isMissing == true)
        try await world.append(zip, at: 0)
        try await world.complete()
        #expect(try await isMissing() == nil)
        #expect(try await world.open(link.url).read(at: 0, count: zip.count) == zip)
    }

    @Test func `a package of another length, or a folder in its place, is missing`()
        async throws
    {
        let world = try await ContentWorld()
        let (zip, _, _, link) = try await world.sold()
        let package = ContentFolder(path: world.folder).package(link.sha256)

        let replacements: [[UInt8]?] = [Array(zip.dropLast()), zip + [0], nil]
        for bytes in replacements {
            try FileManager.default.removeItem(atPath: package)
            if let bytes {
                try Data(bytes).write(to: URL(fileURLWithPath: package))
            } else {
                try FileManager.default.createDirectory(
                    atPath: package, withIntermediateDirectories: false)
            }
            #expect(try await world.states() == ["1.0 missing"])
            #expect(try await world.code { try await world.open(link.url) } == "contentMissing")
            try await world.begin(zip)
            try await world.append(zip, at: 0)
            try await world.complete()
            #expect(try await world.open(link.url).length == Int64(zip.count))
        }
    }

    @Test func `an upload that nobody continues is deleted after a week`() async throws {
        let world = try await ContentWorld()
        let zip = try ContentWorld.package()
        try await world.begin(zip)
        try await world.append([zip[0]], at: 0)
        try await world.begin(zip, "2.0")
        let row = try await world.room.row(ContentKey(ContentWorld.app, "pro", "1.0"))
        let path = ContentFolder(path: world.folder).upload(world.room.upload(row))
        func touch(_ date: Timestamp) throws {
            let date = Date(timeIntervalSince1970: Double(date.milliseconds / 1000))
            try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: path)
        }
        let week: Int64 = 7 * 86_400

        try touch(TestWall.start)
        let early = try await world.realm.keeping.prune()
        world.wall.advance(seconds: week + 60)
        try touch(TestWall.start.adding(seconds: 120))
        let touched = try await world.realm.keeping.prune()
        let afterTouch = try await world.states()
        world.wall.advance(seconds: 120)
        let late = try await world.realm.keeping.prune()

        #expect(early == 0 && touched == 1 && late == 1)
        #expect(afterTouch == ["1.0 processing"])
        #expect(try await world.states() == [])
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test func `a reset and a branch keep the content, and a removed upload is gone`()
        async throws
    {
        let world = try await ContentWorld()
        try await world.upload()
        let half = try ContentWorld.package("2.0")
        try await world.begin(half, "2.0")
        try await world.append([half[0]], at: 0, "2.0")
        try await world.remove("2.0")
        let uploads = try FileManager.default.contentsOfDirectory(
            atPath: world.folder + "/uploads")

        _ = try await world.world.store.resetRealm(named: "default", TestWorld.context)

        #expect(uploads == [])
        #expect(try await world.states() == ["1.0 ready"])
        #expect(try await world.offered(try await world.world.session()) == "1.0")
    }
}
