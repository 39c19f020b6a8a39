// SPDX-License-Identifier: Apache-2.0

import Storage

extension Statement {
    /// What the store's pages show of apps beside their products.
    enum AppPages {
        private static let table = RealmSchema.appPages

        static let one = Statement.one("appPages.one", of: table)

        static let list = Statement(
            "appPages.list", [], "SELECT \(table.list()) FROM app_pages ORDER BY bundle_id")

        static let put = Statement.put("appPages.put", into: table)

        static let all = [one, list, put]
    }
}
