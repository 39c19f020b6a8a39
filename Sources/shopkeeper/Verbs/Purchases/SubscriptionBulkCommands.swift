// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Commerce
import Live
import StoreWire

extension SubscriptionCommand {
    struct ExtendAll: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "extend-all",
            abstract: "Move the next renewal of every active subscription to a product.",
            discussion: """
                The merchant's server receives RENEWAL_EXTENDED for each, RENEWAL_EXTENSION with \
                FAILURE for each that cannot be extended, and a SUMMARY at the end.
                """)
        @OptionGroup var change: BulkChangeOptions
        @Option(name: .long, help: "How many days, 1 to 90.") var days: Int

        func run() async throws { try await change.run { $1.extendByDays = days } }
    }

    struct RaisePriceAll: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "raise-price-all",
            abstract: "Announce a higher price to every customer who subscribes to a product.",
            discussion: """
                It applies to periods that begin at --from or later. Without --no-consent a \
                subscription ends there, unless its customer consents. Customers who pay as much \
                or more already keep their price, and count as failed.
                """)
        @OptionGroup var change: BulkChangeOptions
        @OptionGroup var raise: RaisePriceOptions

        func run() async throws {
            try await change.run { store, request in
                request.price = try await raise.request(store)
            }
        }
    }
}

/// Which subscriptions are changed.
struct BulkChangeOptions: ParsableArguments {
    @Argument(help: "The subscription's product id.") var product: String
    @Option(name: .long, help: "Only customers of this storefront, such as USA; repeatable.")
    var storefront: [String] = []
    @Option(
        name: .long,
        help: "A UUID. The same request under the same id has no effect; default: a new one.")
    var requestId: String?
    @OptionGroup var app: AppOptions
    @OptionGroup var printing: PrintOptions

    func run(
        _ fill: (RunningStore, inout BulkChangeRequest) async throws -> Void
    ) async throws {
        let (store, bundleID) = try app.found()
        let door = store.operatorDoor
        var request = BulkChangeRequest(
            requestId: requestId, productId: product,
            storefronts: storefront.isEmpty ? nil : storefront)
        try await fill(store, &request)
        let path = "/apps/\(ProductRecord.escaped(bundleID))/bulk-changes"
        var change = try await door.post(path, request, as: BulkChangeRecord.self)
        while change.completeDate == nil {
            Output.complain("\(change.succeededCount + change.failedCount) subscriptions visited")
            try await Live.sleep(.seconds(1))
            change = try await door.get(path + "/\(change.requestId)", as: BulkChangeRecord.self)
        }
        try printing.show(
            change,
            "\(change.succeededCount) changed, \(change.failedCount) could not be changed. "
                + "Request \(change.requestId).")
    }
}

/// A higher price, as the commands take it.
struct RaisePriceOptions: ParsableArguments {
    @Option(name: .long, help: "The new price in the currency's unit: 5.99.") var price: String
    @Option(name: .long, help: "RFC 3339, milliseconds, `now` or a step such as now+1mo.")
    var from: String
    @Flag(name: .long, help: "Customers do not have to consent.") var noConsent = false
    @Option(
        name: .long,
        help: """
            MONTHLY: the price is that of one part, for customers who pay in parts; \
            BILLED_UPFRONT: for all others; default: of one subscription its own plan, else \
            BILLED_UPFRONT.
            """)
    var billingPlan: String?

    func request(_ store: RunningStore) async throws -> RaisePriceRequest {
        guard let amount = Amount(decimal: price) else {
            throw Failure(
                .usage, "priceInvalid", "\(price) is not a price.", field: "price",
                rule: "digits, a point, at most three decimals", remedy: "give one such as 5.99")
        }
        let clock = try await store.controlDoor.get("/clock", as: ClockDescription.self)
        return RaisePriceRequest(
            price: amount.milliunits,
            startDate: try ClockOptions.instant(from, "from", now: clock.now),
            needsConsent: !noConsent, billingPlan: billingPlan)
    }
}
