// SPDX-License-Identifier: Apache-2.0

import Commerce
import SignedData
import Storage
import StoreWire
import Testing

@testable import Shop

/// What a merchant's server is shown of a member's subscription. Ann organises the family,
/// and Ben is its member.
@Suite(.timeLimit(.minutes(5))) struct FamilyMerchantTests {
    private static let first = "SUBSCRIBED/INITIAL_BUY"

    private func family(_ commands: String) async throws -> FamilyWorld {
        let family = try await FamilyWorld()
        try await run(commands, family)
        return family
    }

    private func run(_ commands: String, _ family: FamilyWorld) async throws {
        for command in commands.split(separator: " ") { try await family.run(String(command)) }
    }

    /// The status of the only subscription, with its transaction and its renewal.
    private func status(
        _ name: String, _ family: FamilyWorld
    ) async throws -> (
        status: Int, sold: JWSTransactionDecodedPayload, renewal: JWSRenewalInfoDecodedPayload
    ) {
        let id = try #require(try await family.payloads(name).first?.transactionId)
        let answer = try await family.world.merchant().statuses(of: id, only: [])
        let item = try #require(answer.data.first?.lastTransactions.first)
        #expect(answer.data.flatMap(\.lastTransactions).count == 1)
        return (
            item.status, try family.world.verified(item.signedTransactionInfo),
            try family.world.renewal(item.signedRenewalInfo)
        )
    }

    @Test func `a member's subscription is over where the purchaser's goes on unshared`()
        async throws
    {
        let family = try await family("join buy:news buy:yearly month")

        let shown = try await status("ben", family)

        #expect(shown.status == 2 && shown.sold.productId == "news")
        #expect(shown.renewal.productId == "news" && shown.renewal.autoRenewProductId == "news")
        #expect(shown.renewal.autoRenewStatus == 0 && shown.renewal.expirationIntent == 5)
        #expect(shown.renewal.renewalDate == shown.sold.expiresDate)
        let heard = try await family.notifications("ben")
        #expect(heard.map(\.notificationType) == ["SUBSCRIBED", "EXPIRED"])
        #expect(heard.last?.data?.status == 2)
        #expect(try await status("ann", family).status == 1)
        try await run("off month month", family)
        #expect(try await status("ben", family).status == 2)
    }
}
