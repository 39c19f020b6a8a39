// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Commerce
import StoreWire

struct OfferCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "offer", abstract: "Offers of a subscription: a lower price for some time.",
        subcommands: [
            Add.self, List.self, Remove.self, OfferCodeCommand.self, OfferSignCommand.self,
        ])

    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "add", abstract: "Add an offer.",
            discussion: """
                An introductory offer: one for each billing plan. A promotional or win-back offer \
                needs --id. A code needs --reference-name and --for.
                """)

        @Argument(help: "The subscription.") var product: String
        @Argument(help: "The kind: introductory, promotional, code or win-back.") var kind: String
        @Option(name: .long, help: "The mode: free, payUpFront or payAsYouGo.") var mode = "free"
        @Option(name: .long, help: "The period, ISO 8601: P1W; with payAsYouGo the subscription's.")
        var period: String?
        @Option(name: .long, help: "The number of periods, with payAsYouGo.") var periods: Int?
        @Option(name: .long, help: "The price: 0.99; none when free.") var price: String?
        @Option(name: .long, help: "The offer's id for apps and servers.") var id: String?
        @Option(name: .long, help: "The merchant's own label.") var referenceName: String?
        @Option(name: .long, help: "The billing plan: BILLED_UPFRONT or MONTHLY; default: any.")
        var billingPlan: String?
        @Option(name: .customLong("for"), help: "The customers of a code: new,existing,expired.")
        var eligibility: String?
        @Flag(name: .long, help: "For a code: it may follow the introductory offer.")
        var stackable = false
        @Flag(name: .long, help: "For a win-back offer: offer it after the subscription expired.")
        var eligible = false
        @OptionGroup var app: AppOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let (store, bundleID) = try app.found()
            let made = try await store.operatorDoor.post(
                ProductRecord.path(product, of: bundleID) + "/offers",
                OfferRecord(
                    kind: kind, offerId: id, referenceName: referenceName, paymentMode: mode,
                    period: period, periodCount: periods,
                    price: try price.map { try ProductOptions.amount($0, "--price") },
                    billingPlan: billingPlan,
                    eligibility: eligibility?.split(separator: ",").map(String.init),
                    isStackable: stackable ? true : nil, isEligible: eligible ? true : nil),
                as: OfferRecord.self)
            try printing.show(made, made.cells.joined(separator: "  "))
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List a subscription's offers.")

        @Argument(help: "The subscription.") var product: String
        @OptionGroup var app: AppOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let (store, bundleID) = try app.found()
            let offers = try await store.operatorDoor.get(
                ProductRecord.path(product, of: bundleID) + "/offers", as: OfferList.self
            ).offers
            try printing.show(offers, lines: Output.table(offers.map(\.cells)))
        }
    }

    struct Remove: AsyncParsableCommand {
        private struct Removed: Encodable { let removed: String }

        static let configuration = CommandConfiguration(
            commandName: "remove", abstract: "Remove an offer.")

        @Argument(help: "The subscription.") var product: String
        @Argument(help: "The kind: introductory, promotional, code or win-back.") var kind: String
        @Argument(help: "Its name, from `offer list`.") var name: String
        @OptionGroup var app: AppOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let (store, bundleID) = try app.found()
            try await store.operatorDoor.delete(
                ProductRecord.path(product, of: bundleID) + "/offers/"
                    + ProductRecord.escaped(kind) + "/" + ProductRecord.escaped(name))
            try printing.show(Removed(removed: name), "Removed \(kind) \(name).")
        }
    }
}

extension OfferRecord {
    fileprivate var cells: [String] {
        let price = Amount(milliunits: price ?? 0).decimal(decimals: 2)
        return [
            kind, name ?? "", paymentMode, price, "\(periodCount ?? 1) x \(period ?? "")",
            [billingPlan, eligibility?.joined(separator: ",")].compactMap(\.self)
                .joined(separator: " "),
        ]
    }
}
