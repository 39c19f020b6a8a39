// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// The rules of style that a machine can judge.
@Suite struct TidyTests {
    let tree = PackageTree()
    /// Most of it is the text of other programs.
    static let snippets = "Sources/shopkeeper/Verbs/Merchant/ConnectedClient.swift"

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
            // Threads that wait for libpq end their waits by the monotonic clock.
            .filter { $0.path != "Sources/StoragePostgres/MonotonicCondition.swift" }
            .filter { $0.path != Self.snippets }

        #expect(files.count > 20)
        #expect(places(files, stray) == [])
    }

    @Test func `the command prints through Output and TerminalLog alone`() throws {
        let files = try tree.files(in: ["Sources/shopkeeper"], extensions: ["swift"])
            .filter {
                !["Output.swift", "TerminalLog.swift"].contains($0.path.split(separator: "/").last)
                    && $0.path != Self.snippets
            }
        let bare = [
            #/(?:^|[^.A-Za-z])(?:print|debugPrint|dump|puts|fputs|printf)\(/#,
            #/standardOutput|standardError|STDOUT_FILENO, |StreamLogHandler/#, #/exit\(withError:/#,
        ]

        #expect(files.count > 20)
        #expect(places(files, bare) == [])
    }

    @Test func `nothing is forced, unfinished or fatal`() throws {
        let files = try tree.files(in: ["Sources", "Samples"], extensions: ["swift"])
        let unsafe = [
            #/try!/#, #/\bas!/#, #/fatalError\(/#, #/\b(?:TODO|FIXME|XXX|HACK)\b/#,
            #/[Nn]ot implemented/#,
        ]

        #expect(places(files, unsafe) == [])
    }

    @Test func `customers and the catalogue are locked in one place each`() throws {
        // Simple boundaries, because by Unicode's there is none in `Statement.Lines`.
        let locks = [#/\bLines\.line\b/#, #/\bCatalogues\.bumpRevision\b/#].map {
            $0.wordBoundaryKind(.simple)
        }
        let doors = ["Sources/Shop/World/CustomerLine.swift", "Sources/Shop/World/HouseLine.swift"]
        let files = try tree.files(in: ["Sources/Shop"], extensions: ["swift"])
            .filter { !doors.contains($0.path) }

        #expect(files.count > 20)
        #expect(places(files, locks) == [], "write in `realm.line` or `realm.house`")
    }

    @Test func `the device's engine names nothing of StoreKit 1`() throws {
        let kit = "Sources/PurchaseKit/"
        let face = try tree.files(in: [kit + "StoreKit1"], extensions: ["swift"])
        let declaration = #/^(?:[a-z@]+ )*(?:class|struct|enum|protocol|actor) ([A-Z]\w+)/#
        let declared = face.flatMap { file in
            file.lines.compactMap { $0.text.firstMatch(of: declaration).map { String($0.1) } }
        }
        let engine = try tree.files(
            in: ["Engine", "History", "QueueFile", "Sheet", "Transport"].map { kit + $0 },
            extensions: ["swift"])
        let own = Set(declared)
        let named = engine.flatMap { file in
            file.lines.filter { line in
                line.text.contains(#/\bSK[A-Z]|StoreKit ?1/#)
                    || line.text.matches(of: #/\w+/#).contains { own.contains(String($0.0)) }
            }.map { "\(file.path):\($0.number)" }
        }

        #expect(own.isSuperset(of: ["SKPaymentQueue", "QueueBacking", "TransactionFacts"]))
        #expect(engine.count > 20)
        #expect(named == [], "the engine reports to a `DeviceListener`")
    }

    /// The parser takes the name from the type otherwise, of every command whenever one is run:
    /// half of a short command's time.
    @Test func `every command says its name`() throws {
        let files = try tree.files(in: ["Sources/shopkeeper"], extensions: ["swift"])
        let declared = files.flatMap { file in
            file.text.matches(of: #/CommandConfiguration\(\s*(\w+)/#).map { (file.path, $0.1) }
        }
        let nameless = declared.filter { $0.1 != "commandName" }.map(\.0)

        #expect(declared.count > 100)
        #expect(nameless == [], "write `commandName:` first")
    }

    @Test func `tests neither sleep nor assert nothing`() throws {
        let files = try tree.files(in: ["Tests"], extensions: ["swift"])
            .filter { !["Tests/TidyTests/TidyTests.swift", Self.waiting].contains($0.path) }
        let idle = [#/Task\.sleep|Thread\.sleep|usleep\(/#, #/#expect\(true\)/#, #/XCTest/#]

        #expect(places(files, idle) == [])
    }

    /// The one place of waits that end with a sentence.
    private static let waiting = "Tests/TestSupport/Waiting.swift"

    @Test func `every wait of a test ends`() throws {
        let files = try tree.files(in: ["Tests"], extensions: ["swift"]).filter {
            // The flawed store is a program, and the pattern is no wait.
            ![Self.waiting, "Tests/TidyTests/TidyTests.swift", "Tests/FlawedStore/Flaw.swift"]
                .contains($0.path)
        }
        let endless = [
            #/Task\.yield/#, #/with(?:Checked|Unsafe)(?:Throwing)?Continuation/#,
            // A loop that does nothing but ask again.
            #/\bwhile .*\bawait\b.*\{ *\}$/#,
        ]

        #expect(places(files, endless) == [], "`until` of TestSupport waits, and ends")
    }

    @Test func `a suite that may wait has a time limit`() throws {
        let suites = try suites().filter { $0.body.contains(#/@Test[^{]*\basync\b/#) }

        let endless = suites.filter { !$0.traits.contains(".timeLimit(") }
        #expect(suites.count > 90)
        #expect(endless.map(\.place) == [], "these need `.timeLimit(.minutes(5))`")
    }

    @Test func `a suite that looks for rare faults is never forgiven`() throws {
        let name = #/Cut|Kill|Simulation|Power|Proof|Flaw|Fuzz/#
        let words = #/\b(?:Seeds\.|SeededGenerator\(|Knife\(|CutRun\(|SIGKILL\b|kill9\(|Proof\.)/#
        let rare = try suites().filter { $0.name.contains(name) || $0.body.contains(words) }

        let forgiven = rare.filter { !$0.traits.contains(".unforgiven") }
        #expect(rare.count > 30)
        #expect(forgiven.map(\.place) == [], "these need `.unforgiven`")
    }

    private struct SuiteText {
        let place: String
        let name: String
        let traits: Substring
        /// As far as the next suite of the file.
        let body: Substring
    }

    private func suites() throws -> [SuiteText] {
        let head =
            #/
            @Suite\b(?<traits>\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))?\s*
            (?:[a-z@]\w*\s+)*?(?:struct|class|actor|enum)\s+(?<name>\w+)
            /#
        let own = "Tests/TidyTests/"
        return try tree.files(in: ["Tests"], extensions: ["swift"])
            .filter { !$0.path.hasPrefix(own) }
            .flatMap { file in
                let found = file.text.matches(of: head)
                let ends = found.dropFirst().map(\.range.lowerBound) + [file.text.endIndex]
                return zip(found, ends).map { match, end in
                    SuiteText(
                        place: "\(file.path): \(match.output.name)",
                        name: String(match.output.name), traits: match.output.traits ?? "",
                        body: file.text[match.range.upperBound..<end])
                }
            }
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
