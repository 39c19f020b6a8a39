// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// The public interface of `StoreKit` is a file, so that each change of it is seen,
/// and `docs/STOREKIT.md` has a row for each symbol of StoreKit 1.
///
/// `SHOPKEEPER_WRITE_SURFACE=1` writes the file.
@Suite(.timeLimit(.minutes(5)))
struct SurfaceFileTests {
    private static let path = "Tests/Surface/StoreKit.surface.txt"

    private func text(_ path: String) throws -> String {
        try String(contentsOfFile: try PackageRoot.path() + "/" + path, encoding: .utf8)
    }

    @Test func `the public interface is the one in the file`() async throws {
        let lines = try await Self.extracted().lines
        if ProcessInfo.processInfo.environment["SHOPKEEPER_WRITE_SURFACE"] == "1" {
            let place = try PackageRoot.path() + "/" + Self.path
            try Data((lines.joined(separator: "\n") + "\n").utf8).write(
                to: URL(fileURLWithPath: place))
        }
        let written = try text(Self.path).split(separator: "\n").map(String.init)
        let difference = lines.difference(from: written).map { change in
            switch change {
            case .insert(_, let line, _): "+ \(line)"
            case .remove(_, let line, _): "- \(line)"
            }
        }
        #expect(difference == [], "SHOPKEEPER_WRITE_SURFACE=1 writes \(Self.path) anew")
    }

    @Test func `each symbol of StoreKit 1 has a row, and each row a symbol`() async throws {
        let symbols = try await Self.extracted().storeKit1
        let rows = try rows()
        let there = Set(rows.filter { $0.state != "missing" }.map(\.symbol))
        let missing = Set(rows.filter { $0.state == "missing" }.map(\.symbol))

        #expect(rows.count == there.count + missing.count, "a symbol has two rows")
        #expect(symbols.subtracting(there).sorted() == [], "without a row in docs/STOREKIT.md")
        #expect(there.subtracting(symbols).sorted() == [], "in docs/STOREKIT.md only")
        #expect(missing.intersection(symbols).sorted() == [], "not missing any more")
        let states: Set = ["works", "refused", "quiet", "missing", "mention"]
        #expect(Set(rows.map(\.state)).subtracting(states) == [])
    }

    @Test func `each test of a row exists`() throws {
        let named = try rows().filter { $0.state != "missing" }.map(\.tests)
        #expect(named.allSatisfy { !$0.isEmpty })
        var missing = Set(named.joined())
        let folder = try PackageRoot.path() + "/Tests"
        for case let file as String in FileManager.default.enumerator(atPath: folder) ?? .init()
        where file.hasSuffix(".swift") {
            let source = try String(contentsOfFile: folder + "/" + file, encoding: .utf8)
            missing = missing.filter { !source.contains("struct \($0)") }
        }
        #expect(missing.sorted() == [])
    }

    /// A row of the table: symbol, state, tests.
    private struct Row {
        var symbol: String
        var state: String
        var tests: [String]
    }

    private func rows() throws -> [Row] {
        try text("docs/STOREKIT.md").split(separator: "\n").compactMap { line in
            let cells = line.split(separator: "|", omittingEmptySubsequences: false).map {
                $0.trimmingCharacters(in: .whitespaces)
            }
            guard cells.count >= 5, cells[1].hasPrefix("`SK") else { return nil }
            let tests = cells[3].split(separator: ",").map {
                $0.trimmingCharacters(in: CharacterSet(charactersIn: " `"))
            }
            return Row(
                symbol: cells[1].trimmingCharacters(in: CharacterSet(charactersIn: "`")),
                state: cells[2], tests: tests)
        }
    }

    /// What the compiler says of the built module. It takes about a second.
    private static func extracted() async throws -> SymbolGraph {
        let bundle = try #require(CommandLine.arguments.first { $0.hasSuffix(".xctest") })
        let products = URL(fileURLWithPath: bundle).deletingLastPathComponent()
        let folder = try temporaryFolder("surface")
        let child = try ChildProcess([
            "swift", "symbolgraph-extract", "-module-name", "PurchaseKit",
            "-I", products.appendingPathComponent("Modules").path, "-output-dir", folder.path,
            "-target", "\(architecture)-unknown-linux-gnu", "-minimum-access-level", "public",
            "-skip-synthesized-members",
        ])
        let outcome = await child.outcome()
        try #require(outcome.status == 0, "\(outcome.errors)")
        let graphs = ["PurchaseKit", "PurchaseKit@Foundation"].map {
            URL(fileURLWithPath: folder.file("\($0).symbols.json"))
        }
        return try graphs.map {
            try JSONDecoder().decode(SymbolGraph.self, from: Data(contentsOf: $0))
        }.reduce(into: SymbolGraph()) { $0.add($1) }
    }

    private static var architecture: String {
        #if arch(arm64)
            "aarch64"
        #else
            "x86_64"
        #endif
    }
}

/// The parts of a symbol graph that are the interface.
private struct SymbolGraph: Decodable {
    struct Symbol: Decodable {
        struct Name: Decodable { let precise: String }
        struct Fragment: Decodable { let spelling: String }

        let identifier: Name
        let pathComponents: [String]
        let declarationFragments: [Fragment]
        let accessLevel: String

        var path: String { pathComponents.joined(separator: ".") }
        var declaration: String {
            declarationFragments.map(\.spelling).joined().split(whereSeparator: \.isWhitespace)
                .joined(separator: " ")
        }
    }

    struct Relationship: Decodable {
        let kind: String
        let source: String
        let target: String
        let targetFallback: String?
    }

    var symbols: [Symbol] = []
    var relationships: [Relationship] = []

    mutating func add(_ other: SymbolGraph) {
        symbols += other.symbols
        relationships += other.relationships
    }

    /// One line for each symbol, sorted, and one for each type with its conformances.
    var lines: [String] {
        let names = Dictionary(
            symbols.map { ($0.identifier.precise, $0.path) },
            uniquingKeysWith: { first, _ in first })
        var parents: [String: Set<String>] = [:]
        for relationship in relationships
        where ["conformsTo", "inheritsFrom"].contains(relationship.kind) {
            let parent = names[relationship.target] ?? relationship.targetFallback
            guard let child = names[relationship.source], let parent else { continue }
            parents[child, default: []].insert(parent)
        }
        let types = parents.map { "\($0.key): \($0.value.sorted().joined(separator: ", "))" }
        return Set(symbols.map { "\($0.path) = \($0.accessLevel) \($0.declaration)" } + types)
            .sorted()
    }

    /// The paths of the symbols of StoreKit 1.
    var storeKit1: Set<String> {
        Set(symbols.map(\.path).filter { $0.hasPrefix("SK") })
    }
}
