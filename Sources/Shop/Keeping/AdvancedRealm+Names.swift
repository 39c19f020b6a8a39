// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage

/// The result of reconciling customers that one database has and another has
/// lost.
struct NamesMended {
    var found = 0
    var freed = 0

    static func += (sum: inout NamesMended, more: NamesMended) {
        sum.found += more.found
        sum.freed += more.freed
    }
}

/// Reconciles customers' names at the home with the customers on other
/// clusters. If one of them was set back, the cluster is right: a customer who
/// exists there has the purchases and gets the name back. The name of a
/// customer whom the cluster has lost becomes free.
extension AdvancedRealm {
    private static let page = 500

    func mendNames(of index: Int) async throws -> NamesMended {
        NamesMended(found: try await findNames(of: index), freed: try await freeNames(of: index))
    }

    private func findNames(of index: Int) async throws -> Int {
        let far = others[index - 1].storage
        var (last, found): (Int64, Int) = (0, 0)
        while true {
            let from: [SQLValue] = [.integer(last), .integer(Int64(Self.page))]
            let rows = try await far.read { try $0.query(Statement.Advances.customers, from) }
            let names = try rows.map { row -> [SQLValue] in
                [
                    .text(CustomerRoom.signInKey(try row.text("name"))),
                    .integer(try row.integer("customer_id")),
                ]
            }
            found += try await home.write { writing in
                try names.count { name in
                    try writing.first(Statement.Customers.claimName, name) != nil
                }
            }
            if rows.count < Self.page { return found }
            last = try rows[rows.count - 1].integer("customer_id")
        }
    }

    private func freeNames(of index: Int) async throws -> Int {
        let far = others[index - 1].storage
        var (last, freed) = ("", 0)
        while true {
            let from: [SQLValue] = [.text(last), .integer(Int64(Self.page))]
            let rows = try await home.read { try $0.query(Statement.Advances.names, from) }
            let there = try rows.compactMap { row -> [SQLValue]? in
                let number = try row.integer("customer_id")
                guard map.cluster(of: number) == index,
                    try row.optionalInteger("arriving") == nil
                else { return nil }
                return [.text(try row.text("name")), .integer(number)]
            }
            let lost = try await far.read { reading in
                try there.filter { name in
                    try reading.first(Statement.Customers.byID, [name[1]]) == nil
                }
            }
            try await home.write { writing in
                for name in lost { try writing.execute(Statement.Advances.freeName, name) }
            }
            freed += lost.count
            if rows.count < Self.page { return freed }
            last = try rows[rows.count - 1].text("name")
        }
    }
}
