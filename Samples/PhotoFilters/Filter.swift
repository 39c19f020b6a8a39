// SPDX-License-Identifier: Apache-2.0

import StoreKit

/// A way to change a photo. A locked one shows a part of its result only.
struct Filter {
    let name: String
    let productIdentifier: String
    /// Changes the brightness of a point, 0 to 9.
    let change: (Int) -> Int

    static let all = [
        Filter(name: "sepia", productIdentifier: "com.example.photofilters.sepia") {
            ($0 + 9) / 2
        },
        Filter(name: "negative", productIdentifier: "com.example.photofilters.negative") { 9 - $0 },
    ]

    static func named(_ name: String) -> Filter? { all.first { $0.name == name } }

    /// Whether it was bought or restored on this device.
    var isUnlocked: Bool { UserDefaults.standard.bool(forKey: productIdentifier) }

    /// The photo behind the filter, of which a locked one shows the first half of
    /// each line.
    func applied(to photo: [String]) -> [String] {
        photo.map { line in
            let result = line.compactMap(\.wholeNumberValue).map { String(change($0)) }
            guard !isUnlocked else { return result.joined() }
            let half = result.count / 2
            return result.prefix(half).joined() + String(repeating: "?", count: result.count - half)
        }
    }
}

/// A very small photo: each digit is the brightness of a point.
enum Photo {
    static let lighthouse = ["00900000", "09990000", "00900000", "03930000", "33933333"]
}
