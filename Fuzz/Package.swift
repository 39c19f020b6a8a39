// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

// A package of its own, since all of it is built for libFuzzer: see scripts/fuzz.
func fuzzer(_ name: String) -> Target {
    .executableTarget(
        name: name, dependencies: ["FuzzDriver"], swiftSettings: [.swiftLanguageMode(.v6)])
}

let package = Package(
    name: "fuzz",
    dependencies: [.package(name: "shopkeeper", path: "..")],
    targets: [
        .target(
            name: "FuzzDriver",
            dependencies: [.product(name: "FuzzEntries", package: "shopkeeper")],
            swiftSettings: [
                .swiftLanguageMode(.v6), .enableUpcomingFeature("InternalImportsByDefault"),
            ])
    ]
        + [
            "FuzzJWS", "FuzzReceipt", "FuzzStoreKit", "FuzzCertificate", "FuzzOverlay",
            "FuzzArchive",
            "FuzzStatus",
        ].map(fuzzer)
)
