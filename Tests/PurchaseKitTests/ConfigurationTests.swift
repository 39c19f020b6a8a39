// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import SignedData
import TestSupport
import Testing

@testable import PurchaseKit

struct ConfigurationTests {
    @Test func `without variables there are defaults`() throws {
        let configuration = try DeviceConfiguration.fromEnvironment([:])

        #expect(configuration.storeURL.absoluteString == "http://127.0.0.1:4780")
        #expect(configuration.customer == nil)
        #expect(!configuration.isRestricted)
        #expect(configuration.trustsFirstContact)
        #expect(configuration.folder.path.contains("shopkeeper/devices/app-"))
    }

    @Test func `every variable is read`() throws {
        let place = try temporaryFolder()
        let authority = try Authorities.first.get()
        let pem = place.file("root.pem")
        try authority.rootPEM.write(toFile: pem, atomically: true, encoding: .utf8)

        let configuration = try DeviceConfiguration.fromEnvironment([
            "SHOPKEEPER_URL": "http://localhost:9/realms/x/",
            "SHOPKEEPER_BUNDLE_ID": "com.example.app", "SHOPKEEPER_APP_VERSION": "2.1",
            "SHOPKEEPER_CUSTOMER": "blob", "SHOPKEEPER_PASSWORD": "secret",
            "SHOPKEEPER_DEVICE": place.path, "SHOPKEEPER_ROOT": pem,
            "SHOPKEEPER_SHEET": "cancel", "SHOPKEEPER_RESTRICTED": "1",
        ])

        #expect(configuration.storeAddress == "http://localhost:9/realms/x")
        #expect(configuration.bundleID == "com.example.app")
        #expect(configuration.appVersion == "2.1")
        #expect(configuration.customer == "blob")
        #expect(configuration.password == "secret")
        #expect(configuration.root == authority.root)
        #expect(configuration.isRestricted)
        #expect(configuration.queueFolder.path.hasPrefix(place.path))
    }

    @Test func `a release build ignores its environment, and reports that`() {
        let set = [
            "SHOPKEEPER_URL": "http://evil.example", "SHOPKEEPER_SHEET": "confirm", "HOME": "/",
        ]

        let debug = BelievedEnvironment(set, isDebugBuild: true)
        let release = BelievedEnvironment(set, isDebugBuild: false)
        let plain = BelievedEnvironment(["HOME": "/"], isDebugBuild: false)

        #expect(debug.variables == set)
        #expect(debug.warning == nil)
        #expect(release.variables.isEmpty)
        #expect(release.warning?.contains("SHOPKEEPER_URL, SHOPKEEPER_SHEET;") == true)
        #expect(plain.warning == nil)
    }

    @Test func `a root may be DER`() throws {
        let place = try temporaryFolder()
        let authority = try Authorities.first.get()
        try Data(authority.root).write(to: URL(fileURLWithPath: place.file("root.cer")))

        let configuration = try DeviceConfiguration.fromEnvironment([
            "SHOPKEEPER_ROOT": place.file("root.cer")
        ])
        #expect(configuration.root == authority.root)
    }

    @Test func `what only begins like DER is no root, nor are two in PEM`() throws {
        let pem = try Authorities.first.get().rootPEM
        let der = try Authorities.first.get().root

        #expect(Certificates.der(der) == der)
        #expect(Certificates.der(Array(pem.utf8)) == der)
        let wrong: [[UInt8]] = [
            [], [0x30], [0x30, 0x82, 1, 1], [0x31] + der.dropFirst(), [0x30, 3, 2, 1, 1],
            Array((pem + pem).utf8), Array(pem.replacing("CERTIFICATE", with: "KEY").utf8),
        ]
        for bytes in wrong { #expect(Certificates.der(bytes) == nil, "\(bytes.prefix(8))") }
    }

    @Test(arguments: [
        ("SHOPKEEPER_URL", "not a url"), ("SHOPKEEPER_URL", "ftp://localhost"),
        ("SHOPKEEPER_SHEET", "maybe"), ("SHOPKEEPER_RESTRICTED", "perhaps"),
        ("SHOPKEEPER_ENVIRONMENT", "Moon"), ("SHOPKEEPER_ROOT", "/nowhere/root.pem"),
        ("SHOPKEEPER_ROOT", "/dev/null"),
    ])
    func `a variable that cannot be used is named`(variable: String, value: String) throws {
        let fault = #expect(throws: ConfigurationFault.self) {
            try DeviceConfiguration.fromEnvironment([variable: value])
        }
        #expect(fault?.variable == variable)
    }

    @Test func `each store and app has a folder of its own`() throws {
        func folder(_ url: String, _ bundle: BundleID?) throws -> String {
            let url = try #require(URL(string: url))
            return DeviceConfiguration(
                storeURL: url, bundleID: bundle, folder: URL(fileURLWithPath: "/d")
            ).queueFolder.lastPathComponent
        }
        let names = [
            try folder("http://127.0.0.1:4780", "a"), try folder("http://127.0.0.1:4780", "b"),
            try folder("http://127.0.0.1:4780/realms/x", "a"),
            try folder("http://127.0.0.1:4781", "a"), try folder("http://127.0.0.1:4780", nil),
            try folder("http://127.0.0.1:4780", "../.."),
        ]
        #expect(Set(names).count == names.count)
        #expect(
            try folder("http://127.0.0.1:4780/", "a") == folder("http://127.0.0.1:4780", "a"))
        #expect(names.allSatisfy { !$0.contains("/") })
    }

    /// A folder of another name would be an empty queue after an update.
    @Test func `a folder's name never changes`() throws {
        func name(_ url: String, _ bundle: BundleID?) throws -> String {
            let url = try #require(URL(string: url))
            return DeviceConfiguration(
                storeURL: url, bundleID: bundle, folder: URL(fileURLWithPath: "/d")
            ).queueFolder.lastPathComponent
        }
        #expect(
            try name("http://127.0.0.1:4780", "com.example.app")
                == "127.0.0.1-4780-com.example.app-02db50fe035cc559")
        #expect(
            try name("https://store.example/realms/x/", nil) == "store.example-9dfb41b86d60d30b")
        #expect(try name("http://127.0.0.1:4780", "a/é b").hasPrefix("127.0.0.1-4780-a___b-"))
    }

    @Test func `first contact is trusted on loopback alone`() throws {
        for (url, isTrusted) in [
            ("http://127.0.0.1:1", true), ("http://localhost", true), ("http://[::1]:1", true),
            ("http://store.example", false), ("https://127.0.0.2", false), ("file:///", false),
        ] {
            let url = try #require(URL(string: url))
            #expect(DeviceConfiguration(storeURL: url).trustsFirstContact == isTrusted, "\(url)")
        }
    }

    @Test func `a sheet shows title, quantity, unit price and total`() throws {
        let yen = try #require(Currency(code: "JPY"))
        let contents = SheetContents(
            productID: "x", title: "Ten credits", details: "For monkeys", quantity: 3,
            unitPrice: Money(Amount(milliunits: 120_000), yen),
            priceLocale: "ja_JP@currency=JPY")

        #expect(contents.lines.count == 3)
        #expect(contents.lines[0] == "Ten credits")
        #expect(contents.lines[2].contains("3 × "))
        #expect(contents.lines[2].contains("360"))
    }

    @Test func `what costs nothing is shown without a sign`() throws {
        let dollar = try #require(Currency(code: "USD"))
        let contents = SheetContents(
            productID: "x", title: "A gift", details: "For monkeys", quantity: 1,
            unitPrice: Money(Amount(milliunits: 0), dollar), priceLocale: "en_US@currency=USD")

        #expect(contents.formatted(contents.unitPrice) == "$0.00")
    }

    @Test func `waits grow to a limit and are spread`() {
        #expect(Backoff.duration(failures: 0, chance: 0) == .milliseconds(250))
        #expect(Backoff.duration(failures: 0, chance: 255) == .milliseconds(500))
        #expect(Backoff.duration(failures: 3, chance: 255) == .seconds(4))
        #expect(Backoff.duration(failures: 1000, chance: 255) == .seconds(60))
    }
}
