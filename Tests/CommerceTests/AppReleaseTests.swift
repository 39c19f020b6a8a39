// SPDX-License-Identifier: Apache-2.0

import Commerce
import Testing

@Suite struct AppReleaseTests {
    /// What a device gets of `pro`: by kind of realm, its state, whether the
    /// app has sold before, and what came with a version that is live.
    static let table = """
        sandbox    | ready    | no  | -       | offered
        sandbox    | approved | no  | -       | offered
        production | ready    | no  | pro     | notApproved
        production | approved | no  | -       | awaitsVersion
        production | approved | no  | other   | awaitsVersion
        production | approved | no  | pro     | offered
        production | approved | yes | -       | offered
        production | approved | yes | other   | offered
        production | draft    | yes | pro     | draft
        production | removed  | yes | pro     | removed
        """

    @Test(arguments: table.split(separator: "\n").map(String.init))
    func `the first product of an app goes live with a version of it`(row: String) throws {
        let cells = row.split(separator: "|").map { $0.trimmingCharacters() }
        let product = Product(
            id: "pro", kind: .nonConsumable, referenceName: "", price: Amount(milliunits: 990),
            localizations: [])
        let release = AppRelease(
            hasSold: cells[2] == "yes", cameWithLive: cells[3] == "-" ? [] : [ProductID(cells[3])])

        let offering = Offering.of(
            product, Listing(state: try #require(ReviewState(rawValue: cells[1]))), in: "USA",
            at: Timestamp(milliseconds: 0), isProduction: cells[0] == "production",
            arePurchasesEnabled: true, release: release)

        #expect("\(offering)".hasPrefix(cells[4]))
        let approved: Set<ProductID> = cells[1] == "approved" ? ["pro"] : []
        #expect(
            release.hasBegun(approved: approved)
                == (cells[2] == "yes" || cells[3] == "pro" && cells[1] == "approved"))
    }

    @Test(arguments: [
        ("1", true), ("1.2", true), ("1.2.3.4", true), ("2026.1123", true), ("", false),
        ("1.", false), (".1", false), ("1..2", false), ("1.2.3.4.5", false), ("1.a", false),
        ("1234567", false), ("-1", false), ("1 ", false), ("１", false),
    ])
    func `a version is one to four numbers`(text: String, isOne: Bool) {
        #expect(isAppVersion(text) == isOne)
    }
}

extension Substring {
    fileprivate func trimmingCharacters() -> String {
        String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
}
