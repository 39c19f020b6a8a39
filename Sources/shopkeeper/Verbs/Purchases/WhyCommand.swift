// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Commerce
import Foundation
import StoreWire

struct WhyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "why", abstract: "Explain why a device can buy a product, or cannot.",
        discussion: "Exits with 0 if the product is sold, with 1 if not.")

    @Argument(help: "The product's id.") var product: String
    @Option(name: .long, help: "Alpha-3 country code; default: the app's.") var storefront: String?
    @OptionGroup var app: AppOptions
    @OptionGroup var printing: PrintOptions

    func run() async throws {
        let (store, bundleID) = try app.found()
        let query = storefront.map { "?storefront=" + ProductRecord.escaped($0) } ?? ""
        let answer = try await store.operatorDoor.get(
            ProductRecord.path(product, of: bundleID) + "/why" + query, as: ProductAnswer.self)
        let price = answer.price.flatMap { price in
            answer.currency.flatMap(Currency.init(code:)).map {
                " for \(Money(Amount(milliunits: price), $0))"
            }
        }
        try printing.show(
            answer, "\(answer.answer)\(price ?? "") in \(answer.storefront): \(answer.message)")
        if answer.answer != "sold" { throw ExitCode(ExitStatus.no.rawValue) }
    }
}
