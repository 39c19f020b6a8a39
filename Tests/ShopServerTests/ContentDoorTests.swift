// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import HTTPShell
import Shop
import StoreWire
import Synchronization
import TestSupport
import Testing

/// Packages over HTTP: ranges, tags and windows.
@Suite(.timeLimit(.minutes(5))) struct ContentDoorTests {
    private static let app = TestServer.bundleID.value
    private static let context = Shop.RequestContext(requestID: "test")

    /// Makes `length` bytes of content of the product `pro` ready, and returns the link
    /// of a customer who bought it.
    private func link(
        _ server: TestServer, sha256: String, length: Int, bytes: [UInt8] = []
    ) async throws -> ContentLink {
        let room = try await server.store.realm(named: Store.defaultRealm).content
        _ = try await room.begin(
            BeginContentRequest(version: "1.0", length: Int64(length), sha256: sha256),
            product: "pro", bundleID: Self.app, Self.context)
        if !bytes.isEmpty {
            _ = try await room.append(
                bytes, at: 0, to: "1.0", product: "pro", bundleID: Self.app)
        }
        let ready = try await room.complete(
            "1.0", product: "pro", bundleID: Self.app, Self.context)
        #expect(ready.state == "ready")
        let token = try await server.token()
        #expect(try await server.buy(purchaseID(1), "pro", bearer: token).status == 200)
        let sold = try await server.store.realm(named: Store.defaultRealm).purchases
            .listTransactions()
        let number = try #require(sold.transactions.first?.payload.transactionId)
        return try await server.send(
            .content(transactionID: number), ContentRequest(), bearer: token
        ).decoded(ContentLink.self)
    }

    @Test func `a package is answered whole, in ranges, or not again`() async throws {
        let zip = try SamplePackage.make("pro", "1.0")
        let digest = ContentDoorTests.digest(zip)
        try await TestServer.with { server in
            let link = try await link(server, sha256: digest, length: zip.count, bytes: zip)
            let last = zip.count - 1
            let table: [(headers: [String: String], status: Int, range: Range<Int>?)] = [
                ([:], 200, 0..<zip.count),
                (["Range": "bytes=0-0"], 206, 0..<1),
                (["Range": "bytes=5-9"], 206, 5..<10),
                (["Range": "bytes=5-"], 206, 5..<zip.count),
                (["Range": "bytes=-3"], 206, (last - 2)..<zip.count),
                (["Range": "bytes=-999999999"], 206, 0..<zip.count),
                (["Range": "bytes=1-99999999999999999999999"], 206, 1..<zip.count),
                (["Range": "bytes=-0"], 416, nil),
                (["Range": "bytes=\(zip.count)-"], 416, nil),
                (["Range": "bytes=99999999999999999999999-"], 416, nil),
                (["Range": "bytes=9-5"], 200, 0..<zip.count),
                (["Range": "bytes=0-1,3-4"], 200, 0..<zip.count),
                (["Range": "bytes=0-5,2-3"], 200, 0..<zip.count),
                (["Range": "bytes=a-b"], 200, 0..<zip.count),
                (["Range": "lines=0-1"], 200, 0..<zip.count),
                (["Range": "bytes=5-9", "If-Range": "\"\(digest)\""], 206, 5..<10),
                (["Range": "bytes=5-9", "If-Range": "\"0\""], 200, 0..<zip.count),
                (["Range": "bytes=5-9", "If-Range": "W/\"\(digest)\""], 200, 0..<zip.count),
                (["If-None-Match": "\"0\", W/\"\(digest)\""], 304, 0..<0),
                (["If-None-Match": "\"0\""], 200, 0..<zip.count),
            ]
            for row in table {
                let reply = try await server.send("GET", link.url, headers: row.headers)
                #expect(reply.status == row.status, "\(row.headers)")
                #expect(reply.header("ETag") == "\"\(digest)\"", "\(row.headers)")
                guard let range = row.range else {
                    #expect(reply.header("Content-Range") == "bytes */\(zip.count)")
                    #expect(reply.error?.code == "rangeNotSatisfiable")
                    continue
                }
                #expect(reply.body == Array(zip[range]), "\(row.headers)")
                let told = reply.header("Content-Range")
                #expect(
                    told
                        == (row.status == 206
                            ? "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(zip.count)"
                            : nil))
            }
            let head = try await server.send("HEAD", link.url, headers: ["Range": "bytes=0-0"])
            #expect(head.status == 200 && head.body.isEmpty)
            #expect(head.header("Content-Length") == "\(zip.count)")
            #expect(head.header("Accept-Ranges") == "bytes")
        }
    }

    @Test func `64 MiB are read in windows, one after the other`() async throws {
        let length = 64 << 20
        let files = Zeros(length: Int64(length))
        try await TestServer.with(content: files) { server in
            let link = try await link(
                server, sha256: String(repeating: "a", count: 64), length: length)
            let reply = try await server.send("GET", link.url)
            #expect(reply.status == 200 && reply.body.count == length)
        }
        let read = files.read.withLock { $0 }
        #expect(read.map(\.count).max() == FileAnswer.windowBytes)
        #expect(read.map(\.lowerBound) == stride(from: 0, to: length, by: 256 << 10).map { $0 })
    }

    private static func digest(_ bytes: [UInt8]) -> String { SamplePackage.digest(bytes) }
}

/// A place with one package of zeros, which notes what is read of it.
private final class Zeros: ContentFiles, ContentReader {
    let length: Int64
    let read = Mutex<[Range<Int>]>([])

    init(length: Int64) { self.length = length }

    func length(of sha256: String) async throws -> Int64? { length }
    func isWhole(_ sha256: String, length: Int64) async throws -> Bool { true }
    func setAside(_ sha256: String) async throws {}
    func open(_ sha256: String) async throws -> (any ContentReader)? { self }
    func received(_ upload: ContentUpload) async throws -> Int64 { 0 }
    func append(
        _ bytes: [UInt8], at offset: Int64, to upload: ContentUpload
    ) async throws -> ContentAppending { .busy }
    func keep(
        _ upload: ContentUpload, _ check: @escaping @Sendable (_ path: String) throws -> Void
    ) async throws -> ContentKeeping { .kept }
    func discard(_ upload: ContentUpload) async throws {}
    func sweep(before: Timestamp) async throws -> Int { 0 }

    func read(at offset: Int64, count: Int) async throws -> [UInt8] {
        read.withLock { $0.append(Int(offset)..<Int(offset) + count) }
        return [UInt8](repeating: 0, count: count)
    }
}
