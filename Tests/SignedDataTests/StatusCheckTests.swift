// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import SignedData

/// Who asks whether certificates hold, and what is made of the answers.
@Suite(.timeLimit(.minutes(5))) struct StatusCheckTests {
    /// An authority whose certificates name an address, and its responder.
    private final class Responder: Sendable {
        let authority: CertificateAuthority
        let asked = Mutex<[String]>([])
        let requests = Mutex<[[UInt8]]>([])
        let revoked = Mutex<[[UInt8]: Timestamp]>([:])
        let isAway = Mutex(false)

        init(_ authority: CertificateAuthority) { self.authority = authority }

        func answer(_ request: [UInt8], _ url: String) throws -> [UInt8] {
            asked.withLock { $0.append(url) }
            requests.withLock { $0.append(request) }
            if isAway.withLock({ $0 }) { throw CancellationError() }
            return try authority.status.answer(
                request, wall: StatusCheckTests.wall, revoked: revoked.withLock { $0 })
        }

        func check(_ wall: WallClock = WallClock { StatusCheckTests.wall })
            -> CertificateStatusCheck
        {
            CertificateStatusCheck(wall: wall) { try self.answer($0, $1) }
        }

        func signed() throws -> String { try authority.transactions.sign(Sample.transaction()) }
    }

    /// The machine's own time: the library that judges answers knows no other.
    private static let wall = Timestamp(
        milliseconds: Int64(Date(timeIntervalSinceNow: 0).timeIntervalSince1970 * 1000))
    private static let url = "http://127.0.0.1:1/status"
    private static let made = Result { try CertificateAuthority.make(.sandbox, statusURL: url) }

    private func responder() throws -> Responder { Responder(try Self.made.get()) }

    @Test func `what holds is good, and asked once in a quarter of an hour`() async throws {
        let responder = try responder()
        let time = Mutex(Self.wall)
        let check = responder.check(WallClock { time.withLock { $0 } })
        let signed = try responder.signed()

        let first = await check.verdict(ofSignedJSON: signed)
        time.withLock { $0 = $0.adding(seconds: CertificateStatusCheck.holdsSeconds - 1) }
        responder.revoked.withLock { $0[responder.authority.leafSerials[0]] = Self.wall }
        let remembered = await check.verdict(ofSignedJSON: signed)
        time.withLock { $0 = $0.adding(seconds: 1) }
        let later = await check.verdict(ofSignedJSON: signed)

        let told: [CertificateStatusCheck.Verdict] = [first, remembered, later]
        #expect(told == [.good, .good, .revoked])
        #expect(responder.asked.withLock { Set($0) } == [Self.url])
    }

    @Test func `a request asks the authority that issued the certificates, and no other`()
        async throws
    {
        let responder = try responder()
        let verdict = await responder.check().verdict(ofSignedJSON: try responder.signed())
        let requests = responder.requests.withLock { $0 }
        #expect(verdict == .good && requests.count == 2)
        let issuer = responder.authority.status
        let foreign = try Sample.foreignAuthority().status

        for request in requests {
            #expect(issuer.isAsked(by: request))
            #expect(!foreign.isAsked(by: request))
            #expect(!issuer.isAsked(by: Array(request.dropLast())))
        }
    }

    @Test(arguments: [false, true])
    func `a revoked leaf and a revoked intermediate are reported`(isLeaf: Bool) async throws {
        let responder = try responder()
        let intermediate = try #require(responder.authority.issued.first?.serial)
        let serial = isLeaf ? responder.authority.leafSerials[0] : intermediate
        responder.revoked.withLock { $0[serial] = Self.wall }

        #expect(await responder.check().verdict(ofSignedJSON: try responder.signed()) == .revoked)
    }

    @Test func `an absent responder, or one of another authority, proves nothing`() async throws {
        let responder = try responder()
        let time = Mutex(Self.wall)
        let check = responder.check(WallClock { time.withLock { $0 } })
        let signed = try responder.signed()
        let foreign = CertificateStatusCheck(wall: WallClock { Self.wall }) { request, _ in
            try Sample.foreignAuthority().status.answer(request, wall: Self.wall)
        }
        let junk = CertificateStatusCheck(wall: WallClock { Self.wall }) { _, _ in [0x30, 0x80] }

        responder.isAway.withLock { $0 = true }
        let away = await check.verdict(ofSignedJSON: signed)
        responder.isAway.withLock { $0 = false }
        let tooSoon = await check.verdict(ofSignedJSON: signed)
        time.withLock { $0 = $0.adding(seconds: CertificateStatusCheck.retrySeconds) }
        let back = await check.verdict(ofSignedJSON: signed)

        let told: [CertificateStatusCheck.Verdict] = [away, tooSoon, back]
        #expect(told == [.unanswered, .unanswered, .good])
        #expect(await foreign.verdict(ofSignedJSON: signed) == .unanswered)
        #expect(await junk.verdict(ofSignedJSON: signed) == .unanswered)
    }

    @Test func `an old answer does not count`() async throws {
        let responder = try responder()
        let check = CertificateStatusCheck(wall: WallClock { Self.wall }) { request, _ in
            try responder.authority.status.answer(
                request, wall: Self.wall.adding(seconds: -48 * 3600))
        }

        #expect(await check.verdict(ofSignedJSON: try responder.signed()) == .unanswered)
    }

    /// Counts who has begun to ask. A class, because tasks share it.
    private final class Callers: Sendable {
        let begun = Mutex(0)
    }

    /// The first answer is held until the others have asked as well.
    @Test func `callers at the same moment share one answer`() async throws {
        let responder = try responder()
        let signed = try responder.signed()
        _ = await responder.check().verdict(ofSignedJSON: signed)
        let once = responder.asked.withLock { $0.count }
        let callers = Callers()
        let check = CertificateStatusCheck(wall: WallClock { Self.wall }) {
            await until("all callers to ask") { callers.begun.withLock { $0 } == 8 }
            return try responder.answer($0, $1)
        }

        let told = await withTaskGroup { group in
            for _ in 0..<8 {
                group.addTask {
                    callers.begun.withLock { $0 += 1 }
                    return await check.verdict(ofSignedJSON: signed)
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }

        #expect(told == Array(repeating: .good, count: 8))
        #expect(responder.asked.withLock { $0.count } == 2 * once)
    }

    @Test func `without an address no responder is asked`() async throws {
        let check = CertificateStatusCheck(wall: WallClock { Self.wall }) { _, _ in
            Issue.record("somebody was asked")
            return []
        }

        #expect(await check.verdict(ofSignedJSON: try SpoiltJWS.good()) == .noAddress)
        #expect(await check.verdict(ofSignedJSON: "a.b.c") == .unanswered)
    }

    @Test func `the memory is bounded`() async throws {
        let check = CertificateStatusCheck(wall: WallClock { Self.wall }) { _, _ in [] }
        for number in 0..<UInt8(CertificateStatusCheck.chainsMax * 2) {
            _ = await check.verdict(of: [[number]])
        }

        #expect(await check.knownCount <= CertificateStatusCheck.chainsMax)
    }

    @Test func `a full memory forgets first what no longer holds`() async throws {
        let responder = try responder()
        let time = Mutex(Self.wall)
        let check = responder.check(WallClock { time.withLock { $0 } })
        let signed = try responder.signed()
        for number in 1..<UInt8(CertificateStatusCheck.chainsMax) {
            _ = await check.verdict(of: [[number]])
        }
        time.withLock { $0 = $0.adding(seconds: CertificateStatusCheck.retrySeconds) }
        #expect(await check.verdict(ofSignedJSON: signed) == .good)
        #expect(await check.knownCount == CertificateStatusCheck.chainsMax)
        let asked = responder.asked.withLock { $0.count }

        _ = await check.verdict(of: [[0]])

        #expect(await check.knownCount == 2)
        #expect(await check.verdict(ofSignedJSON: signed) == .good)
        #expect(responder.asked.withLock { $0.count } == asked)
    }
}
