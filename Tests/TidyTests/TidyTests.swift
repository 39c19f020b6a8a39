// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// The rules of style that a machine can judge.
@Suite struct TidyTests {
    let tree = PackageTree()

    @Test func `clocks, ids and randomness are read in Live alone`() throws {
        let stray = [
            #/(?:^|[^.A-Za-z])Date\(\)/#, #/Date\.now/#, #/(?:^|[^.A-Za-z])UUID\(\)/#,
            #/\.random\(/#,
            #/SystemRandomNumberGenerator/#, #/Task\.sleep/#, #/Thread\.sleep/#, #/ProcessInfo/#,
            #/ContinuousClock|SuspendingClock/#, #/DispatchTime\.now|\.asyncAfter/#,
            #/clock_gettime|gettimeofday/#,
        ]

        let files = try tree.files(in: ["Sources"], extensions: ["swift"])
            .filter { !$0.path.hasPrefix("Sources/Live/") }

        #expect(files.count > 20)
        #expect(places(files, stray) == [])
    }

    @Test func `nothing is forced, unfinished or fatal`() throws {
        let files = try tree.files(in: ["Sources", "Samples"], extensions: ["swift"])
        let unsafe = [
            #/try!/#, #/\bas!/#, #/fatalError\(/#, #/\b(?:TODO|FIXME|XXX|HACK)\b/#,
            #/[Nn]ot implemented/#,
        ]

        #expect(places(files, unsafe) == [])
    }

    @Test func `tests neither sleep nor assert nothing`() throws {
        let files = try tree.files(in: ["Tests"], extensions: ["swift"])
            .filter { $0.path != "Tests/TidyTests/TidyTests.swift" }
        let idle = [#/Task\.sleep|Thread\.sleep|usleep\(/#, #/#expect\(true\)/#, #/XCTest/#]

        #expect(places(files, idle) == [])
    }

    @Test func `every file says its licence and can be seen whole`() throws {
        let files = try tree.files(
            in: ["Sources", "Samples", "Tests"], extensions: ["swift", "c", "h"])

        for file in files {
            #expect(file.text.hasPrefix("// SPDX-License-Identifier: Apache-2.0\n"), "\(file.path)")
            #expect(file.lines.count <= 600, "\(file.path) is too long to see whole")
        }
    }

    @Test func `no file names a machine`() throws {
        let files = try tree.files(
            in: ["Sources", "Samples", "Tests", "docs", "scripts", ".ci"],
            extensions: ["swift", "c", "h", "md", "py", "txt", "storekit", ""])
        let own = "Tests/TidyTests/TidyTests.swift"
        let names = [#/\/work\//#, #/\/home\/[a-z]/#, #/\/root\//#, #/pypi\.org|deb\.debian\.org/#]

        #expect(places(files.filter { $0.path != own }, names) == [])
    }

    @Test func `links between the documents lead somewhere`() throws {
        var documents = try tree.files(in: ["docs", "Samples"], extensions: ["md"])
        for name in ["README.md", "CHANGELOG.md"] {
            documents.append(SourceFile(path: name, text: try tree.text(of: name)))
        }

        for document in documents {
            let folder = tree.root.appendingPathComponent(document.path).deletingLastPathComponent()
            for match in document.text.matches(of: #/\]\((?<target>[^)#:]+)(?:#[^)]*)?\)/#) {
                let target = folder.appendingPathComponent(String(match.output.target)).path
                #expect(
                    FileManager.default.fileExists(atPath: target),
                    "\(document.path) → \(match.output.target)")
            }
        }
    }

    /// `path:line` of every line that one of the patterns finds.
    private func places(_ files: [SourceFile], _ patterns: [Regex<Substring>]) -> [String] {
        files.flatMap { file in
            file.lines.compactMap { line in
                patterns.contains { line.text.contains($0) } ? "\(file.path):\(line.number)" : nil
            }
        }
    }
}
