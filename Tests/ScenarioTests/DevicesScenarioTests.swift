// SPDX-License-Identifier: Apache-2.0

import Commerce
import PurchaseKit
import PurchaseKitTesting
import StoreKit
import StoreWire
import TestSupport
import Testing

/// Which of a customer's devices receives what: the table of docs/STOREKIT.md.
@Suite(.timeLimit(.minutes(5))) struct DevicesScenarioTests {
    /// The customer buys on the first device while the second runs. The third is
    /// launched when the purchase is finished.
    private static let table = """
        product     | second, not finished | third, finished | third restores | refund: first | second
        consumable  | purchased            | nothing         | nothing        | nothing       | nothing
        pro         | purchased            | nothing         | restored       | revoked       | revoked
        pass        | purchased            | nothing         | nothing        | revoked       | revoked
        paper       | purchased            | nothing         | restored       | revoked       | revoked
        """

    private func shop() async throws -> TestShop {
        try await .selling([
            .named("consumable", ProductKind(.consumable)),
            .named("pro", ProductKind(.nonConsumable)),
            .named("pass", ProductKind(.nonRenewing)), .subscription("paper"),
        ])
    }

    @Test(arguments: ["consumable", "pro", "pass", "paper"])
    func `each device receives what the table says`(product: String) async throws {
        let row = try #require(Self.rows.first { $0[0] == product })
        let shop = try await shop()
        let (first, second) = (try await shop.device(), try await shop.device())
        _ = second.heard
        try await first.buy(product)
        let sold = try await first.heard.first(.purchased)
        let elsewhere = try await second.heard.first(.purchased)
        #expect(row[1] == "purchased")
        #expect(elsewhere.transactionIdentifier == sold.transactionIdentifier)

        first.queue.finishTransaction(sold)
        try await first.heard.removed()
        await until("the store has the finish") {
            (try? await shop.records().allSatisfy(\.isFinished)) == true
        }
        let third = try await shop.device()
        let restored = try await third.restore()
        // The restore has read everything, so a delivery would be there.
        #expect(third.heard.transactions(.purchased).isEmpty == (row[2] == "nothing"))
        #expect(restored.isEmpty == (row[3] == "nothing"))
        #expect(
            restored.allSatisfy { $0.original?.transactionIdentifier == sold.transactionIdentifier }
        )

        let number = try #require(sold.transactionIdentifier)
        try await shop.refund(number)
        if row[4] == "revoked" {
            #expect(try await first.heard.revoked() == [product])
            #expect(try await second.heard.revoked() == [product])
        } else {
            // A later purchase comes after what a refund would cause.
            try await first.buy("pro")
            _ = try await second.heard.all(.purchased, count: 2)
            #expect(first.heard.lostProducts == [] && second.heard.lostProducts == [])
        }
        #expect(row[4] == row[5])
        await shop.close()
    }

    @Test func `the page has the same table`() throws {
        let page = try String(
            contentsOfFile: try PackageRoot.path() + "/docs/STOREKIT.md", encoding: .utf8)
        for row in Self.rows {
            let cells = row.dropFirst().joined(separator: " | ")
            #expect(page.contains("| \(cells) |"), "\(row)")
        }
    }

    private static let rows = table.split(separator: "\n").dropFirst().map { line in
        line.split(separator: "|").map { cell in
            cell.drop { $0 == " " }.split(separator: " ").joined(separator: " ")
        }
    }
}
