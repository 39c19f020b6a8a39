// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// The sample that sells subscriptions, as its user sees it.
@Suite(.timeLimit(.minutes(5))) struct NewsstandTests {
    let rig: Rig

    init() throws {
        rig = try Rig()
    }

    /// Runs a script in a store of the sample's own.
    private func exec(_ script: String) async throws -> ChildProcess.Outcome {
        let file = try PackageRoot.path() + "/Samples/Newsstand/Newsstand.storekit"
        return try await rig.run(
            "shopkeeper", "exec", file, "--bundle-id", "com.example.newsstand", "--", "sh", "-c",
            script)
    }

    /// What the shelf said of a magazine, one word for each time it was printed, and
    /// the dates.
    private func shelf(_ name: String, _ output: String) -> (words: [String], dates: [String]) {
        let lines = output.split(separator: "\n").filter { $0.hasPrefix(name + "\t") }
            .map { $0.dropFirst(name.count + 1).split(separator: " ") }
        return (
            lines.map { String($0.first ?? "") },
            lines.map { $0.last.map(String.init) ?? "" }
        )
    }

    @Test func `prices and periods come from the store, without a warning`() async throws {
        let outcome = try await exec("newsstand products")

        #expect(
            outcome.output == """
                The Gazette\tfree
                The Monthly\tthe first week free, then $4.99 every month
                \thalf: $2.49 every month, 2 times

                """)
        #expect(outcome.errors == "")
    }

    @Test func `a free subscription appears on every device of the customer`() async throws {
        let outcome = try await exec(
            """
            newsstand subscribe gazette
            export SHOPKEEPER_DEVICE="$SHOPKEEPER_DATA/second"
            newsstand shelf
            newsstand restore
            newsstand shelf
            export SHOPKEEPER_DEVICE="$SHOPKEEPER_DATA/third"
            SHOPKEEPER_SHEET=cancel newsstand restore; echo "cancelled $?"
            newsstand restore
            """)

        let gazette = shelf("gazette", outcome.output)
        #expect(gazette.words == ["until", "not", "until", "until", "until"])
        #expect(Set(gazette.dates).count == 2, "one date, and “subscribed”")
        #expect(shelf("monthly", outcome.output).words == ["not", "not", "not", "not", "not"])
        #expect(outcome.output.contains("cancelled 1\n"))
        #expect(outcome.errors == "")
        #expect(outcome.status == 0)
    }

    @Test func `a monthly one renews, lapses and is won back`() async throws {
        let outcome = try await exec(
            """
            set -e
            newsstand subscribe monthly
            shopkeeper clock advance 1mo >&2
            newsstand refresh
            id=$(shopkeeper subscription list --json \
                | sed -n 's/.*"subscriptionId" : "\\([0-9]*\\)".*/\\1/p')
            shopkeeper subscription cancel "$id" >&2
            newsstand refresh
            shopkeeper clock advance 1mo >&2
            newsstand refresh
            newsstand subscribe monthly
            SHOPKEEPER_DEVICE="$SHOPKEEPER_DATA/second" newsstand restore
            """)

        let monthly = shelf("monthly", outcome.output)
        #expect(monthly.words == ["until", "until", "until", "ended", "until", "until"])
        let dates = monthly.dates
        try #require(dates.count == 6, "\(outcome.output) \(outcome.errors)")
        #expect(dates[0] < dates[1])
        #expect(dates[1] == dates[2] && dates[2] == dates[3])
        #expect(dates[3] < dates[4])
        #expect(dates[4] == dates[5])
        #expect(outcome.status == 0)
    }

    @Test func `a code, a signed offer and a higher price, over real HTTP`() async throws {
        let outcome = try await exec(
            """
            set -e
            monthly=com.example.newsstand.monthly
            shopkeeper customer create ann >&2
            shopkeeper offer code create $monthly fair --custom FAIR26 >&2
            export SHOPKEEPER_CUSTOMER=ann SHOPKEEPER_DEVICE="$SHOPKEEPER_DATA/ann"
            SHOPKEEPER_CODE=FAIR26 newsstand redeem
            key=$(shopkeeper key create --output "$SHOPKEEPER_DATA/k.p8" --json \
                | sed -n 's/.*"keyId" : "\\([^"]*\\)".*/\\1/p')
            shopkeeper offer sign $monthly half --key-id "$key" \
                --private-key "$SHOPKEEPER_DATA/k.p8" --json | newsstand offer monthly
            echo '{}' | newsstand offer monthly || echo "refused $?"
            shopkeeper clock advance 1mo >&2
            shopkeeper clock advance 1mo >&2
            id=$(shopkeeper subscription list --json \
                | sed -n 's/.*"subscriptionId" : "\\([0-9]*\\)".*/\\1/p')
            shopkeeper subscription raise-price "$id" --price 5.99 --from now >&2
            newsstand shelf
            newsstand consent
            shopkeeper clock advance 1mo >&2
            shopkeeper transaction list --json | grep '"price"'
            """)

        let prices = outcome.output.split(separator: "\n").filter { $0.contains("\"price\"") }
            .compactMap { Int($0.filter(\.isNumber)) }
        #expect(prices == [990, 2490, 2490, 5990], "\(outcome.output) \(outcome.errors)")
        #expect(outcome.output.contains("refused 1\n"))
        #expect(outcome.status == 0, "\(outcome.errors)")
    }

    @Test func `a cancelled sheet is no error, and a store that is away is the network's`()
        async throws
    {
        let cancelled = try await exec("SHOPKEEPER_SHEET=cancel newsstand subscribe monthly")
        let away = try await rig.run(
            "newsstand", "shelf", with: ["SHOPKEEPER_URL": "http://127.0.0.1:1"])
        let wrong = try await rig.run("newsstand", "subscribe", "nothing")

        #expect(cancelled.status == 1 && cancelled.output == "" && cancelled.errors == "")
        #expect(away.status == 69 && away.errors == "Network down?\n")
        #expect(wrong.status == 64 && wrong.errors.contains("usage:"))
    }
}
