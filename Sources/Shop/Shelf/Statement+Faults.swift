// SPDX-License-Identifier: Apache-2.0

import Storage

extension Statement {
    enum Faults {
        static let list = Statement(
            "faults.list", [], "SELECT name, value FROM faults ORDER BY name")

        static let one = Statement(
            "faults.one", [.text], "SELECT value FROM faults WHERE name = $1")

        static let put = Statement.put("faults.put", into: RealmSchema.faults)

        static let remove = Statement(
            "faults.remove", [.text], "DELETE FROM faults WHERE name = $1 RETURNING value")

        static let all = [list, one, put, remove]
    }
}
