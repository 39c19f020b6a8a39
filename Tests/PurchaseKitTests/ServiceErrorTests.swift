// SPDX-License-Identifier: Apache-2.0

import Foundation
import PurchaseKit
import StoreWire
import Synchronization
import TestSupport
import Testing

/// Failures with numbers outside of Apple's error domain.
@Suite(.timeLimit(.minutes(5)))
struct ServiceErrorTests {
    let rig: Rig

    init() throws {
        rig = try Rig()
    }

    private func failure(_ app: Rig.Launch) async throws -> any Error {
        await app.observer.diary.wait(for: "failed")
        return try #require(app.observer.transactions.last?.error)
    }

    @Test(arguments: [(401, "signInRefused"), (429, "tooManyAttempts"), (400, "customerMissing")])
    func `a sign-in that is not accepted is 5020`(status: Int, code: String) async throws {
        rig.store.always(.answered(FakeStore.refusal(status, code))) { $0 == .signIn }
        let app = rig.launch()
        app.add("credits.5")

        let error = try await failure(app)
        #expect((error as NSError).code == 5020)
        #expect((error as NSError).domain == "SSServerErrorDomain")
        #expect(error.localizedDescription == "No.")
        #expect(error as? SKError == nil)
        #expect((error as? StoreServiceError)?.errorCode == StoreServiceError.signInFailed)
    }

    @Test(arguments: [
        DeviceReply(status: 500), DeviceReply(status: 200, body: Array("<html>".utf8)),
    ])
    func `a store that fails without a reason is 5002`(reply: DeviceReply) async throws {
        rig.store.always(.answered(reply)) { $0 == .signIn }
        let app = rig.launch()
        app.add("credits.5")
        app.queue.restoreCompletedTransactions()

        let error = try await failure(app)
        #expect((error as NSError).code == 5002)
        #expect((error as NSError).code == StoreServiceError.storeFault)
        #expect(error as? SKError == nil)
        await app.observer.diary.wait(for: "restore failed")
    }

    /// Whatever happens after the payment may have been sent, it is not failed.
    @Test func `a store that fails at the purchase leaves it open`() async {
        rig.store.next(.replyReplaced(DeviceReply(status: 500))) { $0.isPurchase }
        let app = rig.launch()
        app.add("credits.5")
        await app.observer.diary.wait(for: "purchased")
        #expect(rig.store.state.withLock { $0.sales.count } == 1)
    }
}
