// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreWire
import TestSupport
import Testing

@testable import ShopServer

/// `docs/COMPATIBILITY.md` has a line for everything, and names tests that exist.
@Suite struct CompatibilityPageTests {
    private static func page() throws -> String {
        try String(
            contentsOfFile: PackageRoot.path() + "/docs/COMPATIBILITY.md", encoding: .utf8)
    }

    /// The first cells of the page's tables.
    private static func lines() throws -> Set<String> {
        Set(
            try page().split(separator: "\n").filter { $0.hasPrefix("| ") }.compactMap { line in
                line.split(separator: "|").first.map {
                    $0.trimmingCharacters(in: CharacterSet(charactersIn: " `"))
                }
            })
    }

    @Test func `each address of Apple's has a line`() throws {
        let patterns = Set(
            try Self.lines().map { $0.replacing(/\{[^}]*\}/, with: "{}") })
        for route in Routes.table.all where route.access.isMerchant || route.access == .receipts {
            #expect(patterns.contains("\(route.method) \(route.pattern)"))
        }
        for prefix in KeyedDoors.missing.keys {
            #expect(try Self.page().contains("`\(prefix)…`"))
        }
    }

    @Test func `each error has a line with Apple's sentence`() throws {
        let page = try Self.page()
        for error in AppleErrorResponse.all {
            let line = "| \(error.errorCode) | \(error.errorMessage) | "
            #expect(page.contains("\n\(line)"), "\(line)")
            let isNever = AppleErrorResponse.neverCaused.contains(error)
            #expect(page.contains("\n\(line)never: ") == isNever, "\(line)")
        }
    }

    /// A type whose every notification has a subtype needs no line of its own.
    @Test func `each type of notification has a line`() throws {
        let lines = try Self.lines()
        for type in NotificationKind.types {
            let subtypes = NotificationKind.subtypes(of: type).map { "\(type)/\($0)" }
            #expect(lines.contains(type) || !subtypes.isEmpty, "\(type)")
            for name in subtypes { #expect(lines.contains(name), "\(name)") }
        }
    }

    @Test func `each field has a line`() throws {
        let lines = try Self.lines()
        let values: [Any] = [
            JWSTransactionDecodedPayload(), JWSRenewalInfoDecodedPayload(),
            JWSAppTransactionDecodedPayload(), ResponseBodyV2DecodedPayload(), NotificationData(),
            NotificationSummary(), NotificationPurchaseToken(), NotificationAppData(),
        ]
        for value in values {
            let fields = Mirror(reflecting: value).children.compactMap(\.label)
            #expect(fields.count > 2)
            for field in fields { #expect(lines.contains(field), "\(type(of: value)).\(field)") }
        }
        let api = try JSONSerialization.jsonObject(
            with: Data(
                contentsOf: URL(fileURLWithPath: try PackageRoot.path() + "/docs/openapi.json")))
        let components = (api as? [String: Any])?["components"] as? [String: Any]
        let schemas = components?["schemas"] as? [String: Any] ?? [:]
        for name in [
            "VerifyReceiptResponse", "VerifiedReceipt", "ReceiptTransaction", "PendingRenewal",
        ] {
            let schema = schemas[name] as? [String: Any]
            let fields = (schema?["properties"] as? [String: Any] ?? [:]).keys
            #expect(!fields.isEmpty)
            for field in fields where !field.hasSuffix("_ms") && !field.hasSuffix("_pst") {
                #expect(lines.contains(field), "\(name).\(field)")
            }
        }
    }

    @Test func `every named test exists`() throws {
        let root = try PackageRoot.path() + "/Tests"
        let page = try Self.page().replacing("\n", with: " ")
        var sources: [String: String] = [:]
        for case let path as String in FileManager.default.enumerator(atPath: root) ?? .init() {
            guard path.hasSuffix(".swift") || path.hasPrefix("Peers/exec_") else { continue }
            let text = try String(contentsOfFile: "\(root)/\(path)", encoding: .utf8)
            let file = URL(fileURLWithPath: path).lastPathComponent
            let name = file.hasSuffix(".py") ? file : file.replacing(".swift", with: "")
            sources[name, default: ""] += text
        }
        let named = page.matches(of: /`([A-Za-z_]+(?:Tests|\.py))\/([^`]+)`/)
        #expect(named.count > 100)
        for match in named {
            let (suite, test) = (String(match.1), String(match.2))
            let source = sources[suite] ?? ""
            #expect(
                source.contains("`\(test)`") || source.contains("checks[\"\(test)\"]"),
                "\(suite)/\(test)")
        }
    }
}
