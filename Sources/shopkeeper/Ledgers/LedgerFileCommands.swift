// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CatalogueFile
import Commerce
import Foundation
import Ledger
import LedgerFile

struct LedgerCheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Check a ledger.yaml; mistakes are named by line.")

    @Argument(help: "The file.") var file: String
    @OptionGroup var printing: PrintOptions

    func run() async throws {
        struct Answer: Encodable {
            let file: String
            let products: [String]
        }
        let checked = try LedgerConfigOption.read(file)
        let settings = LedgerConfigOption.placed(checked.settings, file)
        try LedgerFileCheck.refuse(
            checked, name: file, settings: settings,
            trust: try TrustOptions.parse([]).filled(from: settings),
            proxy: try ProxyOptions.parse([]).filled(from: settings))
        let products = checked.grants.products.keys.map(\.value).sorted()
        try printing.show(
            Answer(file: file, products: products),
            "\(file) is right: what \(products.count) products grant.")
    }
}

struct LedgerInitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init", abstract: "Write a first ledger.yaml for a catalogue.",
        discussion: "What only you can decide is a guess, and is marked with a comment.")

    @Argument(help: "A .storekit file.") var catalogue: String
    @Option(name: .long, help: "The file to write. It must not exist yet.")
    var to = "ledger.yaml"
    @OptionGroup var printing: PrintOptions

    func run() async throws {
        struct Answer: Encodable { let file: String }
        let catalogue = try CatalogueFile(contentsOf: catalogue)
        let draft = LedgerFile.draft(of: catalogue.contents)
        do {
            try Data(draft.utf8).write(
                to: URL(fileURLWithPath: to), options: .withoutOverwriting)
        } catch {
            let exists = FileManager.default.fileExists(atPath: to)
            throw Failure(
                .taken, exists ? "fileExists" : "fileUnwritable",
                exists ? "\(to) exists already." : "\(to) cannot be written.", field: "--to",
                rule: "a file that does not exist yet", remedy: "name another one")
        }
        try printing.show(Answer(file: to), "Wrote \(to). Read its comments before you serve it.")
    }
}
