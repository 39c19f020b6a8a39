// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

/// Strict from the first day: a warning is an error, an import is private unless it says otherwise.
let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]

/// An app developer's code: nothing of ours is switched on in it.
let asAnAppWouldBe: [SwiftSetting] = [.swiftLanguageMode(.v5)]

// Libraries, each with its reason.
let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
// By its older name, which swift-crypto has in version 3 and in version 4.
let cryptoExtras = Target.Dependency.product(name: "_CryptoExtras", package: "swift-crypto")
let x509 = Target.Dependency.product(name: "X509", package: "swift-certificates")
let asn1 = Target.Dependency.product(name: "SwiftASN1", package: "swift-asn1")
let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")
let sqlite = Target.Dependency.product(name: "GRDBSQLite", package: "GRDB.swift")
let hummingbird = Target.Dependency.product(name: "Hummingbird", package: "hummingbird")
let hummingbirdCore = Target.Dependency.product(name: "HummingbirdCore", package: "hummingbird")
let nio = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let nioHTTP1 = Target.Dependency.product(name: "NIOHTTP1", package: "swift-nio")
let nioPosix = Target.Dependency.product(name: "NIOPosix", package: "swift-nio")
let nioSSL = Target.Dependency.product(name: "NIOSSL", package: "swift-nio-ssl")
let nioEmbedded = Target.Dependency.product(name: "NIOEmbedded", package: "swift-nio")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let lifecycle = Target.Dependency.product(
    name: "ServiceLifecycle", package: "swift-service-lifecycle")
let signals = Target.Dependency.product(name: "UnixSignals", package: "swift-service-lifecycle")
let mustache = Target.Dependency.product(name: "Mustache", package: "swift-mustache")
let yams = Target.Dependency.product(name: "Yams", package: "Yams")
let argumentParser = Target.Dependency.product(
    name: "ArgumentParser", package: "swift-argument-parser")

/// What tests spend most of their time in. It is optimised also in a debug build where nothing
/// but the tests' time counts: docs/HACKING.md, "A quick build".
let busy: Set = [
    "Archive", "Commerce", "SignedData", "Storage", "StoragePostgres", "StorageSQLite",
    "StoreWire", "StrictJSON", "Work",
]
let isQuick = Context.environment["SHOPKEEPER_QUICK_TESTS"] == "1"

func module(
    _ name: String, _ imports: [Target.Dependency] = [], excluding pages: [String] = []
) -> Target {
    let quick: [SwiftSetting] = isQuick && busy.contains(name) ? [.unsafeFlags(["-O"])] : []
    return .target(
        name: name, dependencies: imports, exclude: pages, swiftSettings: strict + quick)
}

func tests(_ name: String, _ imports: [Target.Dependency], resources: [Resource] = []) -> Target {
    .testTarget(
        name: name, dependencies: imports, resources: resources, swiftSettings: strict)
}

let package = Package(
    name: "shopkeeper",
    products: [
        .library(name: "StoreKit", targets: ["StoreKit"]),
        .library(name: "PurchaseKit", targets: ["PurchaseKit"]),
        .library(name: "PurchaseKitTesting", targets: ["PurchaseKitTesting"]),
        // For programs that hold a store themselves, the benchmarks among them.
        .library(name: "ShopServer", targets: ["ShopServer"]),
        .library(name: "Outbound", targets: ["Outbound"]),
        .library(name: "LedgerServer", targets: ["LedgerServer"]),
        .library(name: "LedgerClient", targets: ["LedgerClient"]),
        .library(name: "Ledger", targets: ["Ledger"]),
        .library(name: "Shop", targets: ["Shop"]),
        .library(name: "StoragePostgres", targets: ["StoragePostgres"]),
        .library(name: "StorageSQLite", targets: ["StorageSQLite"]),
        .library(name: "Storage", targets: ["Storage"]),
        .library(name: "CatalogueFile", targets: ["CatalogueFile"]),
        .library(name: "SignedData", targets: ["SignedData"]),
        .library(name: "StoreWire", targets: ["StoreWire"]),
        .library(name: "ContentPackage", targets: ["ContentPackage"]),
        .library(name: "Commerce", targets: ["Commerce"]),
        .library(name: "Live", targets: ["Live"]),
        // Where foreign bytes enter, for the fuzzers.
        .library(name: "FuzzEntries", targets: ["FuzzEntries"]),
        .executable(name: "shopkeeper", targets: ["shopkeeper"]),
        .executable(name: "hidden-beaches", targets: ["HiddenBeaches"]),
        .executable(name: "journal", targets: ["Journal"]),
        .executable(name: "journal-server", targets: ["JournalServer"]),
        .executable(name: "level-pack", targets: ["LevelPack"]),
        .executable(name: "monkey-credits", targets: ["MonkeyCredits"]),
        .executable(name: "newsstand", targets: ["Newsstand"]),
        .executable(name: "photo-filters", targets: ["PhotoFilters"]),
        .executable(name: "photo-filters-server", targets: ["PhotoFiltersServer"]),
        .executable(name: "remove-ads", targets: ["RemoveAds"]),
    ],
    traits: [
        .trait(
            name: "TLS",
            description: "`serve --tls-port` and `exec --intercept` of the command."),
        .default(enabledTraits: ["TLS"]),
    ],
    dependencies: [
        // Options, help and exit code 64 of the command.
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        // DER for receipts; certificates and their verification; ECDSA, RSA, SHA, scrypt.
        .package(url: "https://github.com/apple/swift-asn1", from: "1.7.4"),
        .package(url: "https://github.com/apple/swift-certificates", from: "1.21.1"),
        // From 3 on: other people's packages in an app's graph ask for less than 4.
        .package(url: "https://github.com/apple/swift-crypto", "3.12.3"..<"5.0.0"),
        // Structured logs of the server.
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        // SQLite: connections, prepared statements, a writer queue off the cooperative threads.
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        // HTTP server. No traits: neither its configuration reader nor full Foundation is used.
        .package(
            url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
        // The event loops that Hummingbird's connections are on, for tasks to run on them.
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        // TLS of the port for clients that know only Apple's hosts: `SecurePort`, behind the trait
        // `TLS`. BoringSSL is most of what it costs.
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        // Graceful shutdown on signals; Hummingbird stands on it.
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.0.0"),
        // HTML of the store's pages, with every text escaped.
        .package(url: "https://github.com/hummingbird-project/swift-mustache", from: "2.1.1"),
        // YAML of the files that people write by hand: overlays, stories, a ledger's file.
        .package(url: "https://github.com/jpsim/Yams", "5.0.1"..<"7.0.0"),
    ],
    targets: [
        module("Commerce"),
        module("Live", ["Commerce"]),
        module("PriceText", ["Commerce"]),
        module("CatalogueFile", ["Commerce", "StrictJSON"]),
        module("YAMLFile", [yams]),
        module("CatalogueOverlay", ["CatalogueFile", "Commerce", "YAMLFile", yams]),
        module("Story", ["Commerce", "YAMLFile", yams]),
        module("StrictJSON", ["Commerce"]),
        module(
            "SignedData",
            ["Commerce", "StoreWire", "StrictJSON", crypto, cryptoExtras, x509, asn1]),
        module("StoreWire", ["Commerce"]),
        module(
            "PurchaseKit",
            [
                "Commerce", "ContentPackage", "Live", "Outbound", "PriceText", "SignedData",
                "StoreWire", crypto,
            ],
            excluding: ["StoreKit1/RemainingStoreKit1.md"]),
        module("StoreKit", ["PurchaseKit"]),
        // libcurl, which Foundation's own networking stands on too.
        .systemLibrary(name: "CCurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        // Hides the C module from whoever imports it: in an app's graph, a package
        // that stands beside ours and says `#if canImport(StoreKit)` lacks the way
        // to it, and `missing required module` would end its build. No curl type
        // is in the interface, which is what the compiler's warning is about.
        .target(
            name: "Outbound", dependencies: ["CCurl"],
            swiftSettings: strict + [.treatWarning("ImplementationOnlyDeprecated", as: .warning)]),
        // libarchive, which reads the packages of hosted content: written for hostile input,
        // fuzzed for years, and with ZIP64. A ZIP reader in Swift of that standing does not exist.
        .systemLibrary(name: "CArchive", providers: [.apt(["libarchive-dev"])]),
        // zlib: inflates the pixels of pictures. None of the Swift packages here offers it.
        .systemLibrary(name: "CZlib", providers: [.apt(["zlib1g-dev"])]),
        // Hides the C module, for the reason that `Outbound` has.
        .target(
            name: "Pictures", dependencies: ["CZlib"],
            swiftSettings: strict + [.treatWarning("ImplementationOnlyDeprecated", as: .warning)]),
        // Hides the C module, for the reason that `Outbound` has.
        .target(
            name: "ContentPackage", dependencies: ["CArchive", "Commerce"],
            swiftSettings: strict + [.treatWarning("ImplementationOnlyDeprecated", as: .warning)]),
        module("Storage"),
        module("Archive", ["Commerce", "Storage", crypto]),
        module("Work", ["Commerce", "Storage"]),
        module("StorageSQLite", ["Storage", grdb, sqlite]),
        // libpq: PostgreSQL's own client, with its TLS, SCRAM, service and password files.
        .systemLibrary(name: "CPostgres", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
        module("StoragePostgres", ["CPostgres", "Storage"]),
        module(
            "Shop",
            [
                "Archive", "Commerce", "ContentPackage", "Pictures", "SignedData", "Storage",
                "StoreWire", "StrictJSON", "WireErrors", "Work", crypto, cryptoExtras,
            ]),
        module("WireErrors", ["Storage", "StoreWire", "StrictJSON"]),
        module(
            "PurchaseKitTesting",
            [
                "CatalogueFile", "Commerce", "ContentPackage", "Live", "PurchaseKit", "Shop",
                "SignedData", "Storage", "StorageSQLite", "StoreWire", "StrictJSON", crypto,
            ]),
        module(
            "HTTPShell",
            [
                "Commerce", "Storage", "StoreWire", "StrictJSON", "WireErrors", hummingbird,
                hummingbirdCore,
                lifecycle, logging, nio, nioHTTP1, signals,
            ]),
        module(
            "Ledger",
            ["Archive", "Commerce", "SignedData", "Storage", "StoreWire", "StrictJSON"]),
        module("LedgerClient", ["StoreWire"]),
        module(
            "LedgerFile",
            ["CatalogueFile", "Commerce", "Ledger", "YAMLFile", yams]),
        module(
            "LedgerServer",
            [
                "Commerce", "HTTPShell", "Ledger", "StoreWire", "WireErrors", hummingbird, logging,
            ]),
        module(
            "ShopServer",
            [
                "CatalogueFile", "CatalogueOverlay", "Commerce", "HTTPShell", "PriceText", "Shop",
                "SignedData", "StoreWire", "StrictJSON", "WireErrors", crypto, hummingbird, logging,
                mustache,
            ]),
        module("SecurePort", ["HTTPShell", nio, nioSSL]),
        module("ForwardProxy", [nio, nioHTTP1, nioPosix]),
        .executableTarget(
            name: "shopkeeper",
            dependencies: [
                "Archive", "CatalogueFile", "CatalogueOverlay", "Commerce", "ContentPackage",
                "ForwardProxy", "HTTPShell", "Ledger", "LedgerFile", "LedgerServer", "Live",
                "Outbound", "Pictures",
                "PurchaseKit", "Shop", "ShopServer", "SignedData", "Storage", "StoragePostgres",
                "StorageSQLite",
                "StoreWire", "Story",
                "StrictJSON", argumentParser, crypto, hummingbird, logging,
                .target(name: "SecurePort", condition: .when(traits: ["TLS"])),
            ],
            swiftSettings: strict),
        .executableTarget(
            name: "HiddenBeaches", dependencies: ["StoreKit"], path: "Samples/HiddenBeaches",
            exclude: ["HiddenBeaches.storekit", "README.md", "beach.png"],
            swiftSettings: asAnAppWouldBe),
        .executableTarget(
            name: "Journal", dependencies: ["StoreKit"], path: "Samples/Journal/App",
            swiftSettings: asAnAppWouldBe),
        // The app's server. It embeds the ledger.
        .executableTarget(
            name: "JournalServer",
            dependencies: [
                "Commerce", "Ledger", "Live", "Storage", "StorageSQLite", "StoreWire", hummingbird,
            ],
            path: "Samples/Journal/Server", swiftSettings: asAnAppWouldBe),
        .executableTarget(
            name: "LevelPack", dependencies: ["StoreKit"], path: "Samples/LevelPack",
            exclude: ["Caves", "LevelPack.storekit", "README.md"], swiftSettings: asAnAppWouldBe),
        .executableTarget(
            name: "MonkeyCredits", dependencies: ["StoreKit"], path: "Samples/MonkeyCredits",
            exclude: ["MonkeyCredits.storekit", "README.md"], swiftSettings: asAnAppWouldBe),
        .executableTarget(
            name: "Newsstand", dependencies: ["StoreKit"], path: "Samples/Newsstand",
            exclude: ["Newsstand.storekit", "README.md"], swiftSettings: asAnAppWouldBe),
        .executableTarget(
            name: "PhotoFilters", dependencies: ["StoreKit"], path: "Samples/PhotoFilters/App",
            swiftSettings: asAnAppWouldBe),
        // The app's server, with nothing of ours but the verifier.
        .executableTarget(
            name: "PhotoFiltersServer",
            dependencies: ["Commerce", "Live", "SignedData", crypto, hummingbird],
            path: "Samples/PhotoFilters/Server", swiftSettings: asAnAppWouldBe),
        .executableTarget(
            name: "RemoveAds", dependencies: ["StoreKit"], path: "Samples/RemoveAds",
            exclude: ["RemoveAds.storekit", "README.md"], swiftSettings: asAnAppWouldBe),

        .target(
            name: "TestSupport",
            dependencies: ["Commerce", "Storage", "StoragePostgres", crypto],
            path: "Tests/TestSupport", exclude: ["postgres-cluster"],
            swiftSettings: strict),
        // Purchase code in the manner of tutorials, which must compile.
        .target(
            name: "TutorialListings", dependencies: ["StoreKit"], path: "Tests/TutorialListings",
            swiftSettings: asAnAppWouldBe),
        .target(
            name: "FuzzEntries",
            dependencies: [
                "CatalogueFile", "CatalogueOverlay", "Commerce", "Ledger", "Shop", "SignedData",
                "StoreWire",
            ],
            path: "Tests/FuzzEntries", swiftSettings: strict),
        .target(
            name: "CSyncCounter", path: "Tests/CSyncCounter",
            linkerSettings: [.linkedLibrary("sqlite3")]),
        .target(
            name: "CForgetfulDisk", path: "Tests/CForgetfulDisk",
            linkerSettings: [.linkedLibrary("sqlite3")]),
        // The proof breaks it on purpose; nobody else builds it into anything.
        .executableTarget(
            name: "FlawedStore",
            dependencies: [
                "CForgetfulDisk", "CatalogueFile", "Commerce", "Live", "Shop", "ShopServer",
                "Storage", "StoragePostgres", "StorageSQLite", logging,
            ],
            path: "Tests/FlawedStore", swiftSettings: strict),
        // An app on PurchaseKit that the proof runs and kills.
        .executableTarget(
            name: "ProofDevice", dependencies: ["StoreKit"], path: "Tests/ProofDevice",
            swiftSettings: asAnAppWouldBe),
        tests("CommerceTests", ["Commerce", "Pictures", "TestSupport"]),
        tests("CatalogueFileTests", ["CatalogueFile", "Commerce", "StrictJSON", "TestSupport"]),
        tests(
            "CatalogueOverlayTests",
            ["CatalogueFile", "CatalogueOverlay", "Commerce", "TestSupport"]),
        tests("StoryTests", ["Commerce", "Story", "TestSupport"]),
        tests("StrictJSONTests", ["Commerce", "StoreWire", "StrictJSON", "TestSupport"]),
        tests(
            "SignedDataTests",
            [
                "Commerce", "FuzzEntries", "SignedData", "StoreWire", "TestSupport", crypto,
                cryptoExtras, x509, asn1,
            ]),
        tests("StoreWireTests", ["Commerce", "StoreWire", "TestSupport"]),
        tests(
            "StorageTests",
            [
                "CForgetfulDisk", "CSyncCounter", "Storage", "StoragePostgres", "StorageSQLite",
                "TestSupport", grdb,
            ]),
        tests(
            "ShopTests",
            [
                "Archive", "CatalogueFile", "Commerce", "ContentPackage", "Shop", "SignedData",
                "Storage", "StoragePostgres",
                "StorageSQLite",
                "StoreWire", "TestSupport", "Work", crypto,
            ]),
        tests(
            "ShopServerTests",
            [
                "CatalogueFile", "Commerce", "ContentPackage", "HTTPShell", "Live", "Shop",
                "ShopServer", "SignedData",
                "Storage", "StorageSQLite", "StoreWire", "TestSupport", crypto, logging, nio,
                nioEmbedded, nioHTTP1, nioPosix,
            ]),
        tests("ArchiveTests", ["Archive", "Commerce", "Storage", "StorageSQLite", "TestSupport"]),
        tests(
            "HTTPShellTests",
            [
                "Commerce", "HTTPShell", "Live", "StoreWire", "TestSupport", "WireErrors",
                hummingbird, logging,
            ]),
        tests(
            "PurchaseKitTests",
            [
                "Commerce", "ContentPackage", "Live", "Outbound", "PurchaseKit", "SignedData",
                "StoreWire", "TestSupport", crypto,
            ]),
        tests(
            "ScenarioTests",
            [
                "Archive", "CSyncCounter", "Commerce", "Ledger", "Live", "PurchaseKit",
                "PurchaseKitTesting", "Shop", "ShopServer", "SignedData", "Storage",
                "StoragePostgres", "StorageSQLite", "StoreKit", "StoreWire", "TestSupport",
                "TutorialListings", "shopkeeper", logging,
            ]),
        tests(
            "PurchaseKitTestingTests",
            [
                "Commerce", "PurchaseKit", "PurchaseKitTesting", "Shop", "StoreKit", "StoreWire",
                "TestSupport",
            ]),
        tests("ProofTests", ["FlawedStore", "ProofDevice", "TestSupport", "shopkeeper"]),
        tests(
            "CommandTests",
            [
                "CatalogueFile", "Commerce", "ForwardProxy", "HiddenBeaches", "Journal",
                "JournalServer", "LevelPack", "MonkeyCredits", "Newsstand", "PhotoFilters",
                "PhotoFiltersServer", "RemoveAds", "Shop", "SignedData", "StoreWire", "TestSupport",
                "shopkeeper", crypto,
                logging,
            ]),
        tests(
            "LedgerTests",
            [
                "Archive", "Commerce", "JournalServer", "Ledger", "SignedData", "Storage",
                "StoragePostgres", "StorageSQLite", "StoreWire", "StrictJSON", "TestSupport",
                crypto,
            ]),
        tests(
            "LedgerFileTests",
            ["CatalogueFile", "Commerce", "Ledger", "LedgerFile", "TestSupport"]),
        tests(
            "LedgerServerTests",
            [
                "Commerce", "Ledger", "LedgerClient", "LedgerServer", "Live", "SignedData",
                "Storage", "StorageSQLite", "StoreWire", "TestSupport", crypto, logging,
            ]),
        tests(
            "StatementTests",
            [
                "Ledger", "Shop", "Storage", "StoragePostgres", "StorageSQLite", "TestSupport",
                "Work",
            ]),
        tests(
            "SecurePortTests",
            [
                "Commerce", "HTTPShell", "Live", "SecurePort", "SignedData", "StoreWire",
                "TestSupport", "WireErrors", hummingbird, logging, nio, nioPosix, nioSSL,
            ]),
        tests("ForwardProxyTests", ["ForwardProxy", "TestSupport", nio, nioPosix]),
        tests("ContentPackageTests", ["ContentPackage", "TestSupport"]),
        tests("OutboundTests", ["Outbound", "TestSupport"]),
        tests("TidyTests", ["TestSupport"]),
    ]
)
