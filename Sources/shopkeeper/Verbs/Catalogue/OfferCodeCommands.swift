// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import StoreWire

/// Codes with which customers redeem offers of the kind `code`.
struct OfferCodeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "code", abstract: "Codes with which customers redeem an offer.",
        subcommands: [Create.self, List.self, Deactivate.self])

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "create", abstract: "Make codes for an offer of the kind `code`.",
            discussion: """
                With --custom, one code that many customers redeem, each once. Otherwise codes \
                that one customer each redeems.
                """)

        @Argument(help: "The subscription.") var product: String
        @Argument(help: "The offer's label, from `offer list`.") var offer: String
        @Option(name: .long, help: "The text of a code that customers share.") var custom: String?
        @Option(name: .long, help: "How many customers may redeem it; default: a million.")
        var limit: Int64?
        @Option(name: .long, help: "The number of codes; default: 1.") var count: Int?
        @Option(name: .long, help: "When they expire, written as for `clock to`.")
        var expires: String?
        @OptionGroup var app: AppOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let (store, bundleID) = try app.found()
            let made = try await store.operatorDoor.post(
                OfferCodeRecord.path(of: bundleID),
                CreateOfferCodesRequest(
                    productId: product, offer: offer, code: custom, count: count,
                    redemptionsMax: limit,
                    expiresDate: try expires.map { try ClockOptions.instant($0, "--expires") }),
                as: OfferCodeList.self)
            try printing.show(made.codes, lines: made.codes.map(\.code))
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List an app's codes.")

        @OptionGroup var app: AppOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let (store, bundleID) = try app.found()
            var codes: [OfferCodeRecord] = []
            var after: String?
            repeat {
                let page = try await store.operatorDoor.get(
                    OfferCodeRecord.path(of: bundleID) + (after.map { "?after=\($0)" } ?? ""),
                    as: OfferCodeList.self)
                codes += page.codes
                after = page.next
            } while after != nil
            try printing.show(codes, lines: Output.table(codes.map(\.cells)))
        }
    }

    struct Deactivate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "deactivate",
            abstract: "Switch off a code, or a batch; what was redeemed stays.")

        @Argument(help: "A code, or the batch of codes that were made together.") var code: String
        @OptionGroup var app: AppOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let (store, bundleID) = try app.found()
            let answer = try await store.operatorDoor.post(
                OfferCodeRecord.path(of: bundleID) + "/" + ProductRecord.escaped(code)
                    + "/deactivation", [String: String](), as: DeactivatedCodes.self)
            let count = answer.deactivated
            try printing.show(answer, "\(count) \(count == 1 ? "code is" : "codes are") off.")
        }
    }
}

extension OfferCodeRecord {
    fileprivate static func path(of bundleID: String) -> String {
        "/apps/\(ProductRecord.escaped(bundleID))/offer-codes"
    }

    fileprivate var cells: [String] {
        [
            code, productId, offer, "\(redemptions) of \(redemptionsMax)",
            deactivatedDate == nil ? expiresDate.map { "until \($0)" } ?? "" : "off", batch,
        ]
    }
}
