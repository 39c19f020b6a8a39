// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import PurchaseKit

/// Failures in words of our own, and Apple's codes for them.
struct FailureTests {
    @Test(arguments: [
        (PaymentFailure.Code.unknown, SKError.Code.unknown),
        (.cancelled, .paymentCancelled), (.notAllowed, .paymentNotAllowed),
        (.productUnavailable, .storeProductNotAvailable), (.contentsInvalid, .paymentInvalid),
        (.requestDataReserved, .unauthorizedRequestData), (.refused, .unknown),
        (.callRefused, .clientInvalid), (.notSetUp, .clientInvalid), (.network, .unknown),
        (.disk, .unknown), (PaymentFailure.Code(rawValue: "eclipse"), .unknown),
    ])
    func `each code of ours is one of Apple's`(ours: PaymentFailure.Code, apples: SKError.Code) {
        #expect(SKError(PaymentFailure(ours, "Why.")).code == apples)
    }

    @Test func `a failure keeps its sentence and what lies under it`() throws {
        var failure = PaymentFailure(.network, "Cannot connect.")
        failure.urlErrorCode = URLError.Code.timedOut.rawValue
        let network = SKError(failure)
        #expect(network.localizedDescription == "Cannot connect.")
        #expect((network.userInfo[NSUnderlyingErrorKey] as? URLError)?.code == .timedOut)

        failure = PaymentFailure(.disk, "Full.")
        failure.systemErrorCode = Int(ENOSPC)
        let disk = try #require(SKError(failure).userInfo[NSUnderlyingErrorKey] as? NSError)
        #expect(disk.domain == NSPOSIXErrorDomain && disk.code == Int(ENOSPC))
    }

    @Test func `a word of a newer version survives in the file`() throws {
        let text = #"{"code":"eclipse","message":"Dark."}"#
        let failure = try JSONDecoder().decode(PaymentFailure.self, from: Data(text.utf8))
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        #expect(String(decoding: try encoder.encode(failure), as: UTF8.self) == text)
    }
}
