// SPDX-License-Identifier: Apache-2.0

import Foundation

/// `bench [--python PATH --script PATH] [signatures|purchases]`; `bench client …` is the load's own process.
let arguments = Array(CommandLine.arguments.dropFirst())
if arguments.first == "client" {
    try LoadProcess(arguments: Array(arguments.dropFirst())).start()
    exit(0)
}
let figures = try await Bench(arguments: arguments).run()
print("  ratio (median of interleaved pairs; a spread over \(Pairs.spreadMax) counts as not met)")
for figure in figures { print(figure.line) }
exit(figures.allSatisfy(\.isMet) ? 0 : 1)

/// What was asked for on the command line.
struct Bench {
    private var python = ""
    private var script = ""
    private var chosen: String?

    init(arguments: [String]) throws {
        var rest = arguments[...]
        while let word = rest.popFirst() {
            switch word {
            case "--python": python = rest.popFirst() ?? ""
            case "--script": script = rest.popFirst() ?? ""
            case "signatures", "purchases": chosen = word
            default: throw ClientFailure("bench [signatures|purchases]: what is \(word)?")
            }
        }
    }

    func run() async throws -> [Pairs] {
        var figures: [Pairs] = []
        if chosen != "purchases" { figures += try signatures() }
        if chosen != "signatures" { figures += try await PurchaseBench().run() }
        return figures
    }

    private func signatures() throws -> [Pairs] {
        let bench = try SignatureBench()
        let figures = try bench.run()
        guard !python.isEmpty, let beside = try bench.beside(python: python, script: script) else {
            progress("no Python with the peers was named: its library is left out")
            return figures
        }
        return figures + [beside]
    }
}
