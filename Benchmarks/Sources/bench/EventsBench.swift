// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import Live
import Shop
import SignedData
import StoreWire

/// Reads of a subscription with 1,000 events against the same reads of one with 10: what
/// is read is the fold, so its history must cost nothing.
struct EventsBench {
    private let rounds = Brief.or(15, brief: 2)
    private let reads = Brief.or(4000, brief: 8)
    private let slices = Brief.or(80, brief: 4)
    private let few = 10
    private let many = Brief.or(1000, brief: 20)

    func run() async throws -> [Pairs] {
        progress("subscriptions with \(few) and \(many) events")
        let short = try await World(renewals: few - 1)
        let long = try await World(renewals: many - 1)
        var figures: [Pairs] = []
        for read in Read.allCases {
            var figure = Pairs(
                "\(read.rawValue), with \(many) events / with \(few)", atLeast: 1 / 1.2)
            figure.perOperation = reads
            for _ in 0..<rounds { try await compare(read, short, long, in: &figure) }
            figures.append(figure)
        }
        await short.close()
        await long.close()
        return figures
    }

    /// One pair. The two take turns in small slices, because a read that wakes a thread is
    /// slower for as long as the machine is busy elsewhere, and a pair of two long halves
    /// would measure that.
    private func compare(
        _ read: Read, _ short: World, _ long: World, in figure: inout Pairs
    ) async throws {
        var (bare, ours) = (0.0, 0.0)
        for _ in 0..<slices {
            bare += try await seconds(of: read, short)
            ours += try await seconds(of: read, long)
        }
        figure.add(bare: bare, ours: ours)
    }

    private func seconds(of read: Read, _ world: World) async throws -> Double {
        try await secondsAwaited {
            for _ in 0..<(reads / slices) { try await world.perform(read) }
        }
    }

    private enum Read: String, CaseIterable {
        case statuses = "the statuses of a merchant's question"
        case record = "an operator's view of a subscription"
        case page = "a device's page since its last revision"
    }

    /// A store with one customer who subscribes by the week.
    private struct World {
        let folder: URL
        let store: Store
        let shopper: Shopper
        let merchant: Merchant
        let subscription: String
        let revision: Int64
        private static let app: BundleID = "com.example.app"
        private static let context = RequestContext(requestID: "bench")

        init(renewals: Int) async throws {
            folder = FileManager.default.temporaryDirectory
                .appendingPathComponent("bench-events-\(UUID().uuidString)")
            store = try await BenchStore.open(in: folder)
            let realm = try await store.realm(named: Store.defaultRealm)
            try await realm.catalogue.putCatalogue(
                Self.catalogue, app: AppDescription(bundleID: Self.app))
            shopper = try await Shopper(realm, "reader")
            let sold = try await realm.purchases.purchase(
                UUID().uuidString.lowercased(),
                PurchaseRequest(
                    productId: "com.example.weekly", quantity: 1, unitPrice: 990,
                    currency: "USD"), shopper.session, Self.context)
            let list = try await realm.subscriptions.list(bundleID: Self.app.value)
            guard sold.state == "sold", let first = list.subscriptions.first else {
                throw ClientFailure("a subscription ended as \(sold.state)")
            }
            subscription = first.subscriptionId
            _ = try await realm.moveClock(
                MoveClockRequest(advancePeriod: "P\(renewals)W"), Self.context)
            let pages = try await Self.pages(shopper)
            guard pages.count == renewals + 1 else {
                throw ClientFailure("the subscription has \(pages.count) periods")
            }
            revision = pages.revision
            let key = try await realm.merchant.createServerKey(bundleID: Self.app.value)
            let token = try BearerTokenSigner(
                privateKeyPEM: key.privateKey, keyID: key.keyId, issuerID: key.issuerId,
                bundleID: Self.app
            ).token(now: Live.wallClock.now, lifetimeSeconds: 3500)
            merchant = try await realm.merchant.admit(bearer: token)
        }

        /// How many transactions the customer has, and the revision after them.
        private static func pages(
            _ shopper: Shopper
        ) async throws -> (count: Int, revision: Int64) {
            var (count, since) = (0, Int64(0))
            while true {
                let page = try await shopper.realm.purchases.transactions(
                    since: since, shopper.session, context)
                (count, since) = (count + page.transactions.count, page.revision)
                if !page.hasMore { return (count, since) }
            }
        }

        func perform(_ read: Read) async throws {
            switch read {
            case .statuses: _ = try await merchant.statuses(of: subscription, only: [])
            case .record: _ = try await shopper.realm.subscriptions.show(subscription)
            case .page:
                _ = try await shopper.realm.purchases.transactions(
                    since: revision, shopper.session, Self.context)
            }
        }

        func close() async {
            await store.close()
            try? FileManager.default.removeItem(at: folder)
        }

        private static let catalogue = Catalogue(
            products: [
                Product(
                    id: "com.example.weekly", kind: .autoRenewable(groupID: "g", period: "P1W"),
                    referenceName: "Weekly", price: Amount(milliunits: 990),
                    localizations: [
                        Localization(locale: "en_US", displayName: "Weekly", details: "")
                    ])
            ], storefront: "USA", locale: "en_US")
    }
}
