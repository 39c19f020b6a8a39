// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport

/// The files of this package, as the tidy rules look at them.
struct PackageTree {
    let root: URL

    init(file: String = #filePath) {
        root = URL(fileURLWithPath: file).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
    }

    /// Every file with one of the extensions below the folders, by its path from the root.
    func files(in folders: [String], extensions: Set<String>) throws -> [SourceFile] {
        var found: [SourceFile] = []
        for folder in folders {
            let base = root.appendingPathComponent(folder)
            let paths = try FileManager.default.subpathsOfDirectory(atPath: base.path)
            for path in paths.sorted() where !path.hasPrefix(".build") && !path.contains("/.build")
            {
                let url = base.appendingPathComponent(path)
                guard extensions.contains(url.pathExtension), !url.hasDirectoryPath,
                    (try? url.resourceValues(forKeys: [.isRegularFileKey]))?.isRegularFile ?? false
                else { continue }
                let text = try String(contentsOf: url, encoding: .utf8)
                found.append(SourceFile(path: "\(folder)/\(path)", text: text))
            }
        }
        return found
    }

    func text(of path: String) throws -> String {
        try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    }

    /// A package's own description, by the package manager. A scratch folder of
    /// its own keeps it from waiting for the build that runs this test.
    func manifest(of package: URL) async throws -> Manifest {
        let scratch = FileManager.default.temporaryDirectory
            .appendingPathComponent("tidy-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: scratch) }
        let outcome = try await ChildProcess.run([
            "swift", "package", "--package-path", package.path, "--scratch-path", scratch.path,
            "dump-package",
        ])
        let bytes = Data(outcome.output.utf8)
        return try JSONDecoder().decode(Manifest.self, from: bytes)
    }
}

struct SourceFile {
    let path: String
    let text: String

    /// Lines with their numbers, from 1.
    var lines: [(number: Int, text: Substring)] {
        text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
            .map { ($0.offset + 1, $0.element) }
    }

    /// The names after `import`, whatever stands before it, also within `#if`.
    var imports: Set<String> {
        var names: Set<String> = []
        for (_, line) in lines where !line.hasPrefix("     ") {
            let words = line.split(separator: " ")
            guard let index = words.firstIndex(of: "import"), index <= 2, index + 1 < words.count
            else { continue }
            names.insert(String(words[index + 1].prefix { $0 != "." }))
        }
        return names
    }
}

/// What `swift package dump-package` tells of a package, as far as it is asked here.
struct Manifest: Decodable {
    struct Target: Decodable {
        let name: String
        let type: String
        let path: String?
        let dependencies: [Dependency]
    }

    struct Product: Decodable {
        let name: String
        let targets: [String]
    }

    /// `{"byName": [name, condition]}`, `{"target": …}` or `{"product": [name, package, …, condition]}`.
    struct Dependency: Decodable {
        let name: String
        let package: String?
        /// Wanted only with a trait of the package, and nobody here asks for traits.
        let isTrait: Bool

        init(from decoder: any Decoder) throws {
            let forms = try decoder.singleValueContainer().decode([String: [Part]].self)
            let parts = forms.values.first ?? []
            name = parts.first?.text ?? ""
            package = forms.keys.contains("product") && parts.count > 1 ? parts[1].text : nil
            isTrait = parts.contains { !$0.traits.isEmpty }
        }
    }

    /// An element of a dependency's list: text, or a condition.
    struct Part: Decodable {
        private struct Condition: Decodable { let traits: [String]? }

        let text: String?
        let traits: [String]

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            text = try? container.decode(String.self)
            traits = (try? container.decode(Condition.self))?.traits ?? []
        }
    }

    let name: String
    let products: [Product]
    let targets: [Target]

    func target(_ name: String) -> Target? { targets.first { $0.name == name } }
}
