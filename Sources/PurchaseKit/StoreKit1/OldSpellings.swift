// SPDX-License-Identifier: Apache-2.0

// The names of these declarations in Objective-C. The compiler offers the present
// ones.

@available(*, unavailable, renamed: "SKError.Code")
public typealias SKErrorCode = SKError.Code
@available(*, unavailable, renamed: "SKProduct.PeriodUnit")
public typealias SKProductPeriodUnit = SKProduct.PeriodUnit
@available(*, unavailable, renamed: "SKProductDiscount.PaymentMode")
public typealias SKProductDiscountPaymentMode = SKProductDiscount.PaymentMode
@available(*, unavailable, renamed: "SKProductDiscount.Type")
public typealias SKProductDiscountType = SKProductDiscount.`Type`

extension SKPaymentQueue {
    @available(*, unavailable, renamed: "default()")
    public class func defaultQueue() -> SKPaymentQueue { SKPaymentQueue.default() }
    @available(*, unavailable, renamed: "add(_:)")
    public func addPayment(_ payment: SKPayment) {}
    @available(*, unavailable, renamed: "add(_:)")
    public func addTransactionObserver(_ observer: any SKPaymentTransactionObserver) {}
    @available(*, unavailable, renamed: "remove(_:)")
    public func removeTransactionObserver(_ observer: any SKPaymentTransactionObserver) {}
}

extension SKPaymentTransaction {
    @available(*, unavailable, renamed: "original")
    public var originalTransaction: SKPaymentTransaction? { nil }
}
