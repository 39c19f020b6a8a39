// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Which module may look at which: the table in the documents, the package's
/// description and the sources must agree.
@Suite(.timeLimit(.minutes(5))) struct ModuleTests {
    let tree = PackageTree()

    @Test func `the table of modules agrees with the package`() async throws {
        let manifest = try await tree.manifest(of: tree.root)
        let table = try moduleTable()

        let shipped = manifest.targets.filter { $0.type != "test" && !isTestTool($0) }
        #expect(Set(table.keys) == Set(shipped.map(\.name)))
        for target in shipped {
            #expect(
                table[target.name] == Set(target.dependencies.map(\.name)),
                "\(target.name) in docs/ARCHITECTURE.md against Package.swift")
        }
    }

    @Test func `a module imports what it declares, and declares what it imports`() async throws {
        let manifest = try await tree.manifest(of: tree.root)
        let known = Set(manifest.targets.flatMap { $0.dependencies.map(\.name) })

        for target in manifest.targets {
            let files = try tree.files(in: [folder(of: target)], extensions: ["swift"])
            guard !files.isEmpty else { continue }
            let imported = files.reduce(into: Set<String>()) { $0.formUnion($1.imports) }
            let declared = Set(target.dependencies.map(\.name))
            let used = imported.intersection(known).subtracting([target.name])
            #expect(used.subtracting(declared) == [], "\(target.name) does not declare these")
            guard target.type != "test" else { continue }
            #expect(declared.subtracting(used) == [], "\(target.name) does not use these")
        }
    }

    @Test func `StoreKit needs neither a server nor a database`() async throws {
        var closure = try Closure(tree: tree)

        try await closure.add(target: "StoreKit", of: tree.root)

        #expect(closure.targets.contains("PurchaseKit"))
        #expect(closure.targets.contains("CCryptoBoringSSL"))
        let unwanted = closure.targets.filter { name in
            [
                "NIO", "_NIO", "CNIO", "GRDB", "Hummingbird", "Storage", "Shop", "Logging", "Yams",
                "CYaml",
            ]
            .contains { name.hasPrefix($0) }
        }
        #expect(unwanted.isEmpty)
    }

    @Test func `the closure of the server does hold a server and no TLS library`() async throws {
        var closure = try Closure(tree: tree)

        try await closure.add(target: "shopkeeper", of: tree.root)

        #expect(closure.targets.contains("NIOCore") && closure.targets.contains("GRDB"))
        let slow = closure.targets.filter { name in
            [
                "NIOSSL", "AsyncHTTPClient", "HummingbirdTLS", "HummingbirdTesting", "SwiftSyntax",
                "JWTKit",
            ]
            .contains(name)
        }
        #expect(slow.isEmpty)
    }

    @Test func `the TLS library is behind a trait, and the command alone asks for it`() async throws
    {
        let manifest = try await tree.manifest(of: tree.root)

        let users = manifest.targets.filter { target in
            target.type != "test" && target.dependencies.contains { $0.name == "SecurePort" }
        }
        #expect(users.map(\.name) == ["shopkeeper"])
        let wish = users.first?.dependencies.first { $0.name == "SecurePort" }
        #expect(wish?.isTrait == true)
        #expect(!manifest.products.contains { $0.targets.contains("SecurePort") })
        let files = try tree.files(in: ["Sources/shopkeeper"], extensions: ["swift"])
        #expect(
            files.filter { $0.text.contains("#if TLS") }.map(\.path)
                == ["Sources/shopkeeper/Serving/ServedTLS.swift"])
    }

    private func isTestTool(_ target: Manifest.Target) -> Bool {
        target.path?.hasPrefix("Tests/") ?? false
    }

    private func folder(of target: Manifest.Target) -> String {
        target.path ?? (target.type == "test" ? "Tests/" : "Sources/") + target.name
    }

    /// Rows of the form ``| `Module` | `Import`, `Import` | what it is |``.
    private func moduleTable() throws -> [String: Set<String>] {
        var table: [String: Set<String>] = [:]
        let page = try tree.text(of: "docs/ARCHITECTURE.md")
        let part = try #require(page.components(separatedBy: "\n## Modules\n").dropFirst().first)
        for line in part.components(separatedBy: "\n## ")[0].split(separator: "\n")
        where line.hasPrefix("| `") {
            let cells = line.split(separator: "|", omittingEmptySubsequences: false)
            guard cells.count >= 4, let name = quoted(cells[1]).first else { continue }
            table[name] = Set(quoted(cells[2]))
        }
        return table
    }

    private func quoted(_ cell: Substring) -> [String] {
        cell.split(separator: "`", omittingEmptySubsequences: false).enumerated()
            .filter { $0.offset % 2 == 1 }.map { String($0.element) }
    }
}

/// Every target that building one drags in, through packages.
private struct Closure {
    let tree: PackageTree
    private(set) var targets: Set<String> = []
    private var manifests: [String: Manifest] = [:]

    init(tree: PackageTree) throws {
        self.tree = tree
    }

    mutating func add(target name: String, of package: URL) async throws {
        guard targets.insert(name).inserted else { return }
        let manifest = try await manifest(of: package)
        for dependency in manifest.target(name)?.dependencies ?? [] where !dependency.isTrait {
            if manifest.target(dependency.name) != nil {
                try await add(target: dependency.name, of: package)
            } else {
                try await add(product: dependency)
            }
        }
    }

    private mutating func add(product: Manifest.Dependency) async throws {
        let checkout = tree.root.appendingPathComponent(".build/checkouts")
            .appendingPathComponent(product.package ?? product.name)
        let manifest = try await manifest(of: checkout)
        let found = manifest.products.first { $0.name == product.name }
        for target in try #require(found, "product \(product.name)").targets {
            try await add(target: target, of: checkout)
        }
    }

    private mutating func manifest(of package: URL) async throws -> Manifest {
        if let known = manifests[package.path] { return known }
        let manifest = try await tree.manifest(of: package)
        manifests[package.path] = manifest
        return manifest
    }
}
