// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import SignedData
import StoreWire
import TestSupport
import Testing

@testable import Ledger

/// What was signed with a revoked certificate is not booked.
@Suite(.engineFree, .timeLimit(.minutes(5))) struct RevocationTests {
    private enum Mood { case good, revoked, away }

    private static let wall = Timestamp(
        milliseconds: Int64(Date(timeIntervalSinceNow: 0).timeIntervalSince1970 * 1000))

    private func book(_ mood: Mood, isHard: Bool = true) async throws -> Book {
        let authority = try Book.addressed()
        let revoked: [[UInt8]: Timestamp] =
            mood == .revoked ? [authority.leafSerials[0]: Self.wall] : [:]
        let check = CertificateStatusCheck(wall: WallClock { Self.wall }) { request, _ in
            if mood == .away { throw CancellationError() }
            return try authority.status.answer(request, wall: Self.wall, revoked: revoked)
        }
        return try await Book.open(status: LedgerStatusCheck(check, isHard: isHard))
    }

    private func take(_ book: Book) async throws -> [[String?]?] {
        let authority = try Book.addressed()
        let signed = try Book.signed(1, by: authority)
        let bodies = [
            try Book.notification(signed, by: authority),
            try Book.notification(nil, by: authority, type: "TEST"),
        ]
        var told = [
            try await refusal {
                try await book.ledger.take(TakePurchaseRequest(signedTransaction: signed))
            }
        ]
        for body in bodies { told.append(try await refusal { try await book.ledger.take(body) }) }
        return told
    }

    @Test func `what holds is booked`() async throws {
        #expect(try await take(book(.good)) == [nil, nil, nil])
    }

    @Test(arguments: [true, false])
    func `what was revoked is not, transaction or notification`(isHard: Bool) async throws {
        let book = try await book(.revoked, isHard: isHard)

        #expect(
            try await take(book) == [
                ["certificateRevoked", "signedTransaction"],
                ["certificateRevoked", "signedPayload"], ["certificateRevoked", "signedPayload"],
            ])
        #expect(
            try await refusal { try await book.redeem(account: "a") }?.first == "purchaseUnknown")
    }

    @Test func `a notification that holds brings in no transaction that does not`() async throws {
        let old = try Book.addressed()
        let new = try old.rotated(.sandbox, statusURL: "http://127.0.0.1:1/status")
        let check = CertificateStatusCheck(wall: WallClock { Self.wall }) { request, _ in
            try new.status.answer(
                request, wall: Self.wall, revoked: [old.leafSerials[0]: Self.wall],
                formerly: Set(old.issued.map(\.serial)))
        }
        let book = try await Book.open(status: LedgerStatusCheck(check, isHard: true))

        let told = try await refusal {
            try await book.ledger.take(
                Book.notification(try Book.signed(1, by: old), by: new))
        }

        #expect(told == ["certificateRevoked", "signedTransactionInfo"])
        #expect(
            try await refusal { try await book.redeem(account: "a") }?.first == "purchaseUnknown")
    }

    @Test func `an unanswered status check blocks booking, unless checks are soft`()
        async throws
    {
        let hard = try await take(book(.away))
        let soft = try await take(book(.away, isHard: false))

        #expect(hard.map { $0?.first } == ["statusUnknown", "statusUnknown", "statusUnknown"])
        #expect(soft == [nil, nil, nil])
    }

    @Test func `certificates without an address are asked about nowhere`() async throws {
        let book = try await book(.away)

        #expect(try await book.take().unspent == 1)
    }
}
