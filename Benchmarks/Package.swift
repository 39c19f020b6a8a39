// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

// A package of its own, so that nobody pays for it who does not measure.
let package = Package(
    name: "benchmarks",
    dependencies: [
        .package(name: "shopkeeper", path: ".."),
        // The bare check and the bare signature that ours are measured against.
        .package(url: "https://github.com/apple/swift-crypto", "3.12.3"..<"5.0.0"),
        // The bare handler that the store's is measured against.
        .package(
            url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    ],
    targets: [
        // Syncs that take as long as on another disk.
        .target(name: "CSlowSync"),
        .executableTarget(
            name: "bench",
            dependencies: [
                "CSlowSync",
                .product(name: "CatalogueFile", package: "shopkeeper"),
                .product(name: "Commerce", package: "shopkeeper"),
                .product(name: "ContentPackage", package: "shopkeeper"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "_CryptoExtras", package: "swift-crypto"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Ledger", package: "shopkeeper"),
                .product(name: "LedgerServer", package: "shopkeeper"),
                .product(name: "Live", package: "shopkeeper"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Outbound", package: "shopkeeper"),
                .product(name: "PurchaseKit", package: "shopkeeper"),
                .product(name: "PurchaseKitTesting", package: "shopkeeper"),
                .product(name: "Shop", package: "shopkeeper"),
                .product(name: "ShopServer", package: "shopkeeper"),
                .product(name: "SignedData", package: "shopkeeper"),
                .product(name: "Storage", package: "shopkeeper"),
                .product(name: "StoragePostgres", package: "shopkeeper"),
                .product(name: "StorageSQLite", package: "shopkeeper"),
                .product(name: "StoreWire", package: "shopkeeper"),
            ],
            swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]),
    ]
)
