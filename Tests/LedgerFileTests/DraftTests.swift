// SPDX-License-Identifier: Apache-2.0

import CatalogueFile
import Commerce
import Ledger
import TestSupport
import Testing

@testable import LedgerFile

struct DraftTests {
    /// The samples have consumables, non-consumables and subscriptions.
    @Test(arguments: ["HiddenBeaches", "MonkeyCredits", "Newsstand", "PhotoFilters", "RemoveAds"])
    func `a first file is right, and has every product`(sample: String) throws {
        let path = try PackageRoot.path() + "/Samples/\(sample)/\(sample).storekit"
        let contents = try CatalogueFile(contentsOf: path).contents

        let file = try LedgerFile(
            yaml: Array(LedgerFile.draft(of: contents).utf8), name: "draft")

        #expect(Set(file.grants.products.keys) == Set(contents.catalogue.products.map(\.id)))
    }

    @Test func `a first file of no product is right`() throws {
        let file = try LedgerFile(
            yaml: Array(LedgerFile.draft(of: CatalogueContents()).utf8), name: "draft")

        #expect(file.grants == .none)
    }
}
