// SPDX-License-Identifier: Apache-2.0

public import Foundation

// The names of these declarations in Objective-C, and in the first versions of
// Swift. The compiler offers the present ones.

@available(*, unavailable, renamed: "SKError.Code")
public typealias SKErrorCode = SKError.Code
@available(*, unavailable, renamed: "SKProduct.PeriodUnit")
public typealias SKProductPeriodUnit = SKProduct.PeriodUnit
@available(*, unavailable, renamed: "SKProductDiscount.PaymentMode")
public typealias SKProductDiscountPaymentMode = SKProductDiscount.PaymentMode
@available(*, unavailable, renamed: "SKProductDiscount.Type")
public typealias SKProductDiscountType = SKProductDiscount.`Type`
@available(*, unavailable, renamed: "SKError.unknown")
public let SKErrorUnknown = SKError.Code.unknown
@available(*, unavailable, renamed: "SKError.clientInvalid")
public let SKErrorClientInvalid = SKError.Code.clientInvalid
@available(*, unavailable, renamed: "SKError.paymentCancelled")
public let SKErrorPaymentCancelled = SKError.Code.paymentCancelled
@available(*, unavailable, renamed: "SKError.paymentInvalid")
public let SKErrorPaymentInvalid = SKError.Code.paymentInvalid
@available(*, unavailable, renamed: "SKError.paymentNotAllowed")
public let SKErrorPaymentNotAllowed = SKError.Code.paymentNotAllowed

extension SKPaymentQueue {
    @available(*, unavailable, renamed: "default()")
    public class func defaultQueue() -> SKPaymentQueue { SKPaymentQueue.default() }
    @available(*, unavailable, renamed: "add(_:)")
    public func addPayment(_ payment: SKPayment) {}
    @available(*, unavailable, renamed: "add(_:)")
    public func addTransactionObserver(_ observer: any SKPaymentTransactionObserver) {}
    @available(*, unavailable, renamed: "remove(_:)")
    public func removeTransactionObserver(_ observer: any SKPaymentTransactionObserver) {}
    @available(*, unavailable, renamed: "start(_:)")
    public func startDownloads(_ downloads: [SKDownload]) {}
    @available(*, unavailable, renamed: "pause(_:)")
    public func pauseDownloads(_ downloads: [SKDownload]) {}
    @available(*, unavailable, renamed: "resume(_:)")
    public func resumeDownloads(_ downloads: [SKDownload]) {}
    @available(*, unavailable, renamed: "cancel(_:)")
    public func cancelDownloads(_ downloads: [SKDownload]) {}
    @available(*, unavailable, renamed: "restoreCompletedTransactions(withApplicationUsername:)")
    public func restoreCompletedTransactionsWithApplicationUsername(_ username: String?) {}
}

extension SKPaymentTransactionObserver {
    @available(*, unavailable, renamed: "paymentQueue(_:shouldAddStorePayment:for:)")
    public func paymentQueue(
        _ queue: SKPaymentQueue, shouldAddStorePayment payment: SKPayment,
        forProduct product: SKProduct
    ) -> Bool { false }
}

extension SKPaymentQueueDelegate {
    @available(*, unavailable, renamed: "paymentQueue(_:shouldContinue:in:)")
    public func paymentQueue(
        _ paymentQueue: SKPaymentQueue, shouldContinueTransaction transaction: SKPaymentTransaction,
        inStorefront newStorefront: SKStorefront
    ) -> Bool { true }
}

extension SKProductsRequestDelegate {
    @available(*, unavailable, renamed: "productsRequest(_:didReceive:)")
    public func productsRequest(
        _ request: SKProductsRequest, didReceiveResponse response: SKProductsResponse
    ) {}
}

extension SKPaymentTransaction {
    @available(*, unavailable, renamed: "original")
    public var originalTransaction: SKPaymentTransaction? { nil }
}

extension SKPayment {
    @available(*, unavailable, renamed: "init(product:)")
    public class func paymentWithProduct(_ product: SKProduct) -> SKPayment { SKPayment() }
    @available(*, unavailable, renamed: "payment(withProductIdentifier:)")
    public class func paymentWithProductIdentifier(_ identifier: String) -> Any { SKPayment() }
}

extension SKProduct {
    @available(*, unavailable, renamed: "isDownloadable")
    public var downloadable: Bool { false }
    @available(*, unavailable, renamed: "downloadContentLengths")
    public var contentLengths: [NSNumber] { [] }
}
