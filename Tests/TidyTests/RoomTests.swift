// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// The rooms of `Sources/Shop`, its folders: a room uses only those above it in the
/// table of docs/ARCHITECTURE.md.
@Suite(.timeLimit(.minutes(5))) struct RoomTests {
    let tree = PackageTree()

    @Test func `a room of the store uses only rooms above it`() throws {
        let order = try rooms()
        let files = try tree.files(in: ["Sources/Shop"], extensions: ["swift"])
        let houses = Dictionary(grouping: files) { Self.room(of: $0) }
        #expect(Set(houses.keys) == Set(order), "docs/ARCHITECTURE.md against the folders")
        let homes = self.homes(of: files)
        #expect(homes.count > 100)

        let wrong = files.flatMap { file -> [String] in
            guard let place = order.firstIndex(of: Self.room(of: file)) else { return [] }
            let names = Set(Self.code(file.text).matches(of: Self.typeName).map { $0.output })
            return names.compactMap { name in
                guard let home = homes[name], let other = order.firstIndex(of: home),
                    other > place
                else { return nil }
                return "\(file.path) uses \(name) of \(home)"
            }
        }

        #expect(wrong.sorted() == [])
    }

    @Test func `a verb is in the folder of its group in the help`() throws {
        let files = try tree.files(in: ["Sources/shopkeeper"], extensions: ["swift"])
        let root = try #require(files.first { $0.path.hasSuffix("/Shopkeeper.swift") })
        let groups = root.text.matches(of: #/name: "([A-Za-z ]+)",\s+subcommands: \[([^\]]*)\]/#)
        #expect(groups.count == 5)

        for group in groups {
            let name = group.output.1.split(separator: " ").map {
                $0.prefix(1).uppercased() + $0.dropFirst()
            }
            .joined()
            for verb in group.output.2.matches(of: #/(\w+)\.self/#) {
                let home = files.first { $0.text.contains("\nstruct \(verb.output.1):") }
                let isElsewhere = ["Verifying", "Ledgers"].contains(
                    home?.path.split(separator: "/")[2])
                let folder = "Sources/shopkeeper/Verbs/\(name)/"
                #expect(isElsewhere || home?.path.hasPrefix(folder) == true, "\(verb.output.1)")
            }
        }
    }

    /// The rooms that hold databases: those that make and open them, and those whose
    /// subject is whole databases.
    private static let holdDatabases = [
        "Registry", "Keys", "Schema", "Clusters", "World", "Keeping", "Store",
    ]

    @Test func `a use case names a customer or the house, and no database`() throws {
        let files = try tree.files(in: ["Sources/Shop"], extensions: ["swift"])
        let useCases = files.filter { !Self.holdDatabases.contains(Self.room(of: $0)) }
        #expect(useCases.count > 60)

        let wrong = useCases.flatMap { file in
            Self.code(file.text)
                .matches(
                    of: #/any Storage\b|\b(?:clusters|home|storage)\.|\bstorage\(of:/#
                        .wordBoundaryKind(.simple)
                )
                .map { "\(file.path): \($0.output)" }
        }

        #expect(wrong == [])
    }

    /// Simple boundaries, because by Unicode's there is none in `Statement.Lines`.
    private static var typeName: Regex<Substring> {
        #/\b[A-Z]\w+\b/#.wordBoundaryKind(.simple)
    }

    /// The rooms in the order of the documents.
    private func rooms() throws -> [String] {
        let page = try #require(
            try tree.files(in: ["docs"], extensions: ["md"])
                .first { $0.path == "docs/ARCHITECTURE.md" })
        let part = try #require(page.text.range(of: "## The rooms of the store"))
        return page.text[part.upperBound...].prefix { $0 != "#" }
            .matches(of: #/\n\| `(\w+)` \|/#).map { String($0.output.1) }
    }

    private static func room(of file: SourceFile) -> String {
        String(file.path.split(separator: "/").dropFirst(2).first ?? "")
    }

    /// The room of each type. A type that is private, or declared in several rooms, has
    /// none.
    private func homes(of files: [SourceFile]) -> [Substring: String] {
        var homes: [Substring: Set<String>] = [:]
        let declaration =
            #/(?m)^(?: {4})?(?:public |package |indirect |final )*(?:struct|enum|class|protocol|actor|typealias) ([A-Z]\w*)/#
        for file in files {
            for match in file.text.matches(of: declaration) {
                homes[match.output.1, default: []].insert(Self.room(of: file))
            }
        }
        return homes.compactMapValues { $0.count == 1 ? $0.first : nil }
    }

    /// A file's text without comments and literals.
    private static func code(_ text: String) -> String {
        text.replacing(#/(?m)\/\/.*$/#, with: "")
            .replacing(
                #/"""(?:.|\n)*?"""/#,
                with: {
                    $0.output.matches(of: #/\\\(([^()]*)\)/#).map { String($0.output.1) }.joined(
                        separator: " ")
                }
            )
            .replacing(#/"(?:\\.|[^"\\\n])*"/#, with: "")
    }
}
