// SPDX-License-Identifier: Apache-2.0

import StoreKit

/// A way to change a photo. A locked one shows a part of its result only.
struct Filter: Codable {
    let name: String
    let productIdentifier: String
    /// What each brightness becomes, 0 to 9. Nil for one whose file is not on this device.
    var table: [Int]?

    /// The filters that the app contains.
    static let builtIn = [
        Filter(
            name: "sepia", productIdentifier: "com.example.photofilters.sepia",
            table: [4, 5, 5, 6, 6, 7, 7, 8, 8, 9]),
        Filter(
            name: "negative", productIdentifier: "com.example.photofilters.negative",
            table: [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]),
    ]

    /// The filters of the app, or of its server as it listed them last.
    static var all: [Filter] { FilterServer.configured == nil ? builtIn : listed }

    static func named(_ name: String) -> Filter? { all.first { $0.name == name } }

    /// Whether it was bought or restored on this device.
    var isUnlocked: Bool {
        UserDefaults.standard.bool(forKey: productIdentifier) && table != nil
    }

    /// The photo behind the filter, of which a locked one shows the first half of
    /// each line. Nil without the filter's file.
    func applied(to photo: [String]) -> [String]? {
        guard let table, table.count == 10 else { return nil }
        return photo.map { line in
            let result = line.compactMap(\.wholeNumberValue).map { String(table[$0]) }
            guard !isUnlocked else { return result.joined() }
            let half = result.count / 2
            return result.prefix(half).joined() + String(repeating: "?", count: result.count - half)
        }
    }
}

/// Filters of a server, kept in the app's settings.
extension Filter {
    private static let listKey = "filters"

    private static var listed: [Filter] {
        let data = UserDefaults.standard.data(forKey: listKey)
        return data.flatMap { try? JSONDecoder().decode([Filter].self, from: $0) } ?? []
    }

    /// Keeps the names of a list, and the files that have arrived before.
    static func keep(names: [Filter]) {
        let known = listed
        save(
            names.map { filter in
                var filter = filter
                filter.table = known.first { $0.name == filter.name }?.table
                return filter
            })
        UserDefaults.standard.synchronize()
    }

    /// Keeps the files. Returns whether they are on the disk.
    static func keep(files: [Filter]) -> Bool {
        let rest = listed.filter { old in !files.contains { $0.name == old.name } }
        save(rest + files)
        return UserDefaults.standard.synchronize()
    }

    private static func save(_ filters: [Filter]) {
        let sorted = filters.sorted { $0.name < $1.name }
        UserDefaults.standard.set(try? JSONEncoder().encode(sorted), forKey: listKey)
    }
}

/// A very small photo: each digit is the brightness of a point.
enum Photo {
    static let lighthouse = ["00900000", "09990000", "00900000", "03930000", "33933333"]
}
