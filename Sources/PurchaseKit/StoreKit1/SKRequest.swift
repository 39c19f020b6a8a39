// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Gives a request its `delegate`. A subclass can then declare one with a
/// narrower type that uses the same storage. On this platform a redeclared
/// property could not do that.
public protocol _SKRequestDelegating: AnyObject {
    var _delegateBox: AnyObject? { get set }
}

extension _SKRequestDelegating {
    /// Is notified of the end of the request. Held weakly.
    public var delegate: (any SKRequestDelegate)? {
        get { _delegateBox as? any SKRequestDelegate }
        set { _delegateBox = newValue }
    }
}

/// A request to the store. Its subclasses define what is requested.
/// [Apple's page](https://developer.apple.com/documentation/storekit/skrequest)
///
/// The delegate is called on the main queue, so a process must keep its main
/// queue alive (`RunLoop.main.run()`, `dispatchMain()` or an async `main`).
open class SKRequest: NSObject, _SKRequestDelegating {
    public weak var _delegateBox: AnyObject?

    public override init() {
        super.init()
    }

    /// Sends the request. A request can be started once.
    open func start() {}

    /// Ends the request. Its delegate is not called any more.
    open func cancel() {}
}

/// Is notified of the end of a request. Both methods are optional.
public protocol SKRequestDelegate: NSObjectProtocol {
    /// The request succeeded. This is the last call.
    func requestDidFinish(_ request: SKRequest)
    /// The request failed. This is the only call. The error is a `URLError`
    /// after a network failure, otherwise an ``SKError``.
    func request(_ request: SKRequest, didFailWithError error: any Error)
}

extension SKRequestDelegate {
    public func requestDidFinish(_ request: SKRequest) {}
    public func request(_ request: SKRequest, didFailWithError error: any Error) {}
}
