// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import Storage
import StoreWire
import Synchronization
import Testing

@testable import Shop

/// Hosted content: uploads, versions and links.
@Suite(.timeLimit(.minutes(5))) struct ContentTests {
    private static let app = ContentWorld.app

    @Test func `a package is uploaded in pieces, and its buyer reads its bytes`() async throws {
        let world = try await ContentWorld()
        let zip = try ContentWorld.package(filler: 5000)

        let begun = try await world.begin(zip)
        let half = try await world.append(Array(zip[..<2000]), at: 0)
        let early = try await world.offered(try await world.world.session())
        try await world.append(Array(zip[2000...]), at: 2000)
        let ready = try await world.complete()
        // A session has the catalogue as of its request.
        let session = try await world.world.session()
        let bought = try await world.world.buy("pro", purchaseID(1), session: session)
        let now = try await world.world.session()

        #expect(begun.state == "processing" && begun.received == 0)
        #expect(half.received == 2000 && early == nil)
        #expect(ready.state == "ready" && ready.readyDate == TestWall.start)
        let content = ContentDescription(
            version: "1.0", length: Int64(zip.count), sha256: ContentWorld.digest(zip))
        let page = try await world.realm.purchases.transactions(
            since: 0, now, TestWorld.context)
        #expect(bought.content == content && page.transactions.map(\.content) == [content])
        let number = try #require(
            try await world.realm.purchases.listTransactions().transactions.first?
                .payload.transactionId)
        let link = try await world.room.link(number, ContentRequest(), session)
        let reader = try await world.open(link.url)
        #expect(try await reader.read(at: 0, count: zip.count + 1) == zip)
        #expect(try await reader.read(at: 7, count: 9) == Array(zip[7..<16]))
        #expect(link.expiresDate == TestWall.start.adding(seconds: 900))
        let entries = try await world.realm.auditEntries().entries.suffix(2)
        #expect(entries.map(\.deed) == ["content.begin", "content.complete"])
        #expect(entries.map(\.subject) == Array(repeating: "\(Self.app)/pro/1.0", count: 2))
    }

    @Test func `customers of another cluster download what is hosted at home`() async throws {
        let places = TestPlaces(far: [TestClusters.far])
        let world = try await ContentWorld(places: places)
        let zip = try await world.upload()
        _ = try await world.realm.customers.createCustomer(
            CreateCustomerRequest(name: "neighbour"))
        var links: [String] = []
        for (number, customer) in [(1, nil), (2, "neighbour")] {
            let session = try await world.world.session(customer: customer)
            let bought = try await world.world.buy("pro", purchaseID(number), session: session)
            #expect(bought.content?.version == "1.0")
            let page = try await world.realm.purchases.transactions(
                since: 0, session, TestWorld.context)
            let sold = try await world.realm.purchases.listTransactions(
                customer: session.customer.description)
            let id = try #require(sold.transactions.first?.payload.transactionId)
            #expect(page.transactions.map(\.content?.version) == ["1.0"])
            links.append(try await world.room.link(id, ContentRequest(), session).url)
        }

        for link in links {
            #expect(try await world.open(link).read(at: 0, count: zip.count) == zip)
        }
        places.down.withLock { _ = $0.insert(TestClusters.far) }
        let fault = await ClusterTests.fault { _ = try await world.open(links[0]) }
        #expect(fault?.code == .unavailable)
        #expect(try await world.open(links[1]).length == Int64(zip.count))
    }

    @Test func `a version is never replaced, and the same bytes are there already`()
        async throws
    {
        let world = try await ContentWorld()
        let (zip, other) = (try ContentWorld.package(), try ContentWorld.package(words: "moon"))
        try await world.begin(zip)

        let halfway = try await world.code { try await world.begin(other) }
        try await world.append(zip, at: 0)
        try await world.complete()
        let taken = try await world.code { try await world.begin(other) }
        let again = try await world.begin(zip)
        let completed = try await world.complete()
        let piece = try await world.code { try await world.append([1], at: 0) }
        try await world.remove("1.0")
        try await world.remove("1.0")
        let removed = try await world.code { try await world.begin(zip) }

        #expect([halfway, taken] == ["contentVersionTaken", "contentVersionTaken"])
        #expect(again.state == "ready" && again.received == nil && completed.state == "ready")
        #expect([piece, removed] == ["contentNotWanted", "contentVersionRemoved"])
    }

    @Test func `the newest version is chosen by its integers, and a begun one continues`()
        async throws
    {
        let world = try await ContentWorld()
        for version in ["1.10", "1.9", "1.2"] { try await world.upload(version) }
        let session = try await world.world.session()
        let bought = try await world.world.buy("pro", purchaseID(1), session: session)
        let number = try #require(
            try await world.realm.purchases.listTransactions().transactions.first?
                .payload.transactionId)
        func link(_ version: String?) async throws -> String {
            try await world.room.link(number, ContentRequest(version: version), session).version
        }

        #expect(bought.content?.version == "1.10")
        #expect(try await world.offered(session) == "1.10")
        #expect(try await link("1.2") == "1.2")
        try await world.remove("1.2")
        try await world.remove("1.10")
        #expect(try await link("1.2") == "1.9")
        #expect(try await world.offered(try await world.world.session()) == "1.9")
        #expect(try await world.states() == ["1.10 removed", "1.2 removed", "1.9 ready"])
        try await world.remove("1.9")
        #expect(try await world.code { try await link(nil) } == "contentNotFound")
        #expect(try await world.code { try await link("x") } == "contentVersionInvalid")
    }

    @Test func `a piece comes where the upload ends, and within its length`() async throws {
        let world = try await ContentWorld()
        let zip = try ContentWorld.package()
        try await world.begin(zip)
        try await world.append([zip[0]], at: 0)

        let wrong = try await refusal { try await world.append([1], at: 5) }
        let twice = try await refusal { try await world.append([1], at: 0) }
        let beyond = try await world.code { try await world.append(zip, at: 1) }
        let empty = try await world.code { try await world.append([], at: 1) }
        let long = try await world.code {
            try await world.append([UInt8](repeating: 0, count: (1 << 20) + 1), at: 1)
        }
        let early = try await refusal { try await world.complete() }

        #expect([wrong, twice].map(\.error.code) == ["contentOffsetWrong", "contentOffsetWrong"])
        #expect(wrong.error.remedy == "continue at 1")
        #expect([beyond, empty, long] == ["pieceBeyondEnd", "pieceInvalid", "pieceInvalid"])
        #expect(early.error.code == "contentIncomplete")
        #expect(early.error.message == "The store has 1 of \(zip.count) bytes.")
    }

    @Test func `an upload goes on after an interruption at every piece`() async throws {
        let world = try await ContentWorld()
        let zip = try ContentWorld.package(filler: 5000)
        let pieces = stride(from: 0, to: zip.count, by: 700).map {
            Array(zip[$0..<min($0 + 700, zip.count)])
        }
        var received = 0
        for piece in pieces {
            let begun = try await world.begin(zip)
            #expect(begun.state == "processing" && begun.received == Int64(received))
            let early = try await world.code { try await world.complete() }
            #expect(early == "contentIncomplete")
            try await world.append(piece, at: received)
            // Its answer was lost: the client sends the piece again, and learns the offset.
            let again = try await refusal { try await world.append(piece, at: received) }.error
            received += piece.count
            #expect(again.code == "contentOffsetWrong")
            #expect(again.remedy == "continue at \(received)")
            try await world.restart()
        }

        #expect(try await world.begin(zip).received == Int64(zip.count))
        #expect(try await world.complete().state == "ready")
        try await world.restart()
        #expect(try await world.complete().state == "ready")
        #expect(try await world.states() == ["1.0 ready"])
    }

    @Test func `what fails its check is dropped, and can be uploaded anew`() async throws {
        let world = try await ContentWorld()
        let zip = try ContentWorld.package()
        var spoilt = zip
        spoilt[zip.count / 2] ^= 1
        let others = [
            try ContentWorld.package(product: "other"), try ContentWorld.package("2.0"),
            Array("no package".utf8),
        ]

        try await world.begin(zip)
        try await world.append(spoilt, at: 0)
        let corrupt = try await world.code { try await world.complete() }
        var invalid: [String] = []
        for other in others {
            try await world.begin(other)
            try await world.append(other, at: 0)
            invalid.append(try await world.code { try await world.complete() })
        }
        let left = try await world.states()
        try await world.upload()

        #expect(corrupt == "contentCorrupt")
        #expect(invalid == Array(repeating: "contentInvalid", count: 3) && left == [])
        #expect(try await world.states() == ["1.0 ready"])
    }

    @Test func `what can have no content is refused`() async throws {
        let world = try await ContentWorld()
        let zip = try ContentWorld.package()

        #expect(
            try await world.code { try await world.begin(zip, product: "credits.5") }
                == "contentOfOtherType")
        #expect(
            try await world.code { try await world.begin(zip, product: "none") }
                == "productIdUnknown")
        #expect(
            try await world.code { try await world.begin(zip, "1..0") }
                == "contentVersionInvalid")
        #expect(
            try await world.code { try await world.begin(zip, sha256: "A") }
                == "contentDigestInvalid")
        #expect(try await world.code { try await world.begin([]) } == "contentLengthInvalid")
        #expect(try await world.code { try await world.complete() } == "contentUnknown")
        let bare = try await TestWorld.open()
        let none = try await refusal { _ = try await bare.realm.content.list(bundleID: Self.app) }
        #expect(none.error.code == "contentNotHosted" && none.kind == .notImplemented)
    }

    @Test func `a link is for one customer, one package and a short time`() async throws {
        let world = try await ContentWorld()
        try await world.upload()
        let session = try await world.world.session()
        try await world.world.buy("pro", purchaseID(1), session: session)
        let number = try #require(
            try await world.realm.purchases.listTransactions().transactions.first?
                .payload.transactionId)
        let link = try await world.room.link(number, ContentRequest(), session)
        _ = try await world.realm.customers.createCustomer(CreateCustomerRequest(name: "ann"))
        let ann = try await world.world.session(customer: "ann")

        var codes = [
            try await world.code { try await world.room.link(number, ContentRequest(), ann) }
        ]
        for (part, other) in [
            ("customer=\(session.customer.value)", "customer=\(ann.customer.value)"),
            ("expires=", "expires=1"), ("signature=", "signature=0"), ("realm=", "realm=x"),
            (link.sha256, String(repeating: "0", count: 64)), ("&expires", "&expired"),
        ] {
            let forged = link.url.replacingOccurrences(of: part, with: other)
            #expect(forged != link.url)
            codes.append(try await world.code { try await world.open(forged) })
        }
        _ = try await world.open(link.url)
        world.wall.advance(seconds: 900)
        codes.append(try await world.code { try await world.open(link.url) })

        #expect(
            codes == ["transactionNotFound"]
                + Array(repeating: "contentLinkInvalid", count: 6) + ["contentLinkExpired"])
    }

    @Test func `a refund ends links, and takes the content from the transaction`()
        async throws
    {
        let world = try await ContentWorld()
        try await world.upload()
        let session = try await world.world.session()
        try await world.world.buy("pro", purchaseID(1), session: session)
        let number = try #require(
            try await world.realm.purchases.listTransactions().transactions.first?
                .payload.transactionId)
        let link = try await world.room.link(number, ContentRequest(), session)

        _ = try await world.realm.refunds.decide(
            number, DecideRefundRequest(state: "granted"), TestWorld.context)

        let refused = try await refusal { _ = try await world.open(link.url) }
        #expect(refused.error.code == "contentNotOwned" && refused.kind == .forbidden)
        #expect(
            try await world.code {
                try await world.room.link(number, ContentRequest(), session)
            } == "contentNotOwned")
        let page = try await world.realm.purchases.transactions(
            since: 0, session, TestWorld.context)
        #expect(page.transactions.map(\.content) == [nil])
    }
}
