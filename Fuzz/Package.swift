// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

// A package of its own, since all of it is built for libFuzzer: see scripts/fuzz.
func fuzzer(_ name: String) -> Target {
    .executableTarget(
        name: name, dependencies: [.product(name: "FuzzEntries", package: "shopkeeper")],
        swiftSettings: [.swiftLanguageMode(.v6)])
}

let package = Package(
    name: "fuzz",
    dependencies: [.package(name: "shopkeeper", path: "..")],
    targets: ["FuzzJWS", "FuzzReceipt", "FuzzStoreKit", "FuzzCertificate"].map(fuzzer)
)
