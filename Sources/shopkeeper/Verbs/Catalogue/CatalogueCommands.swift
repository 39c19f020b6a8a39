// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CatalogueFile
import CatalogueOverlay
import Commerce
import StoreWire

struct CatalogueCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "catalogue",
        abstract: ".storekit files, and the catalogue of a store.",
        subcommands: [Check.self, Diff.self, Import.self, Export.self])

    struct Check: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "check", abstract: "Check files: their contents and their problems.",
            discussion: "Prints problems as FILE: KEY PATH: RULE: REMEDY. Exits with 65 on errors."
        )

        @Argument(help: "Files or packages, .storekit.") var files: [String]
        @OptionGroup var printing: PrintOptions

        func run() throws {
            let answers = files.map(CheckedFile.init(path:))
            try printing.show(answers, lines: answers.flatMap(\.lines))
            if answers.contains(where: { !$0.errors.isEmpty }) {
                throw ExitCode(ExitStatus.input.rawValue)
            }
        }
    }

    struct Diff: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "diff",
            abstract: "Compare a file with another one, or with the running store.",
            discussion: "Exits with 0 if they are equal, with 1 if not.")

        @Argument(help: "The earlier file; alone, it is compared with the store.")
        var before: String
        @Argument(help: "The later file.") var after: String?
        @OptionGroup var app: AppOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let lines = try await differences()
            try printing.show(
                lines.map(DifferenceLine.init), lines: lines.map(\.description))
            if !lines.isEmpty { throw ExitCode(ExitStatus.no.rawValue) }
        }

        private func differences() async throws -> [CatalogueDifference] {
            let file = try CatalogueFile(contentsOf: before).contents
            if let after {
                return file.differences(to: try CatalogueFile(contentsOf: after).contents)
            }
            let (store, bundleID) = try app.found()
            let document = try await store.operatorDoor.get(
                "/apps/\(bundleID)/catalogue", as: CatalogueDocument.self)
            let sold = try CatalogueFile(json: Array(document.file.utf8), name: document.name)
            return sold.contents.differences(to: file)
        }
    }
}

/// The result for one file.
private struct CheckedFile: Encodable {
    struct Problem: Encodable {
        let file: String
        let keyPath: String
        let rule: String
        let remedy: String

        init(_ problem: CatalogueProblem) {
            (file, keyPath) = (problem.file, problem.keyPath)
            (rule, remedy) = (problem.rule, problem.remedy)
        }

        var line: String {
            [file, keyPath, rule, remedy].filter { !$0.isEmpty }.joined(separator: ": ")
        }
    }

    let file: String
    var products: [String: Int] = [:]
    var groups = 0
    var offers = 0
    var storefront: String?
    /// The overlay beside it, if there is one.
    var overlay: String?
    var errors: [Problem] = []
    var warnings: [Problem] = []

    init(path: String) {
        file = path
        do throws(CatalogueFileFault) {
            let read = try CatalogueFile(contentsOf: path)
            for product in read.catalogue.products {
                products[product.type.rawValue, default: 0] += 1
            }
            groups = read.contents.groups.count
            offers = read.contents.terms.values.map(Self.offers).reduce(0, +)
            storefront = read.catalogue.storefront
            warnings = (read.warnings + read.unobeyed).map(Problem.init)
            if try CatalogueOverlay.beside(path) != nil {
                overlay = CatalogueOverlay.path(beside: path)
            }
        } catch {
            errors = error.problems.map(Problem.init)
        }
    }

    private static func offers(_ terms: SubscriptionTerms) -> Int {
        terms.introductoryOffers.count + terms.promotionalOffers.count + terms.codeOffers.count
            + terms.winBackOffers.count
    }

    /// A line of counts, then the problems.
    var lines: [String] {
        let problems =
            errors.map { "error: \($0.line)" } + warnings.map { "warning: \($0.line)" }
        guard errors.isEmpty else { return problems }
        let counts = ProductType.allCases.compactMap { type in
            products[type.rawValue].map { "\($0) \(type.rawValue)" }
        }
        let sold = counts.isEmpty ? "nothing" : counts.joined(separator: ", ")
        let rest = groups == 0 ? "" : "; \(groups) groups, \(offers) offers"
        return ["\(file): \(sold)\(rest); storefront \(storefront ?? "")"] + problems
    }
}

private struct DifferenceLine: Encodable {
    let kind: String
    let productId: String?
    let field: String?
    let before: String?
    let after: String?

    init(_ difference: CatalogueDifference) {
        (kind, productId) = (difference.kind.rawValue, difference.product?.value)
        (field, before, after) = (difference.field, difference.before, difference.after)
    }
}
