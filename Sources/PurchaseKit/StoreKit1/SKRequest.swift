// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Gives a request its `delegate`. A subclass may then declare one of a
/// narrower type over the same box, which a redeclared property could not on
/// this platform.
public protocol _SKRequestDelegating: AnyObject {
    var _delegateBox: AnyObject? { get set }
}

extension _SKRequestDelegating {
    /// Hears how the request ends. Held weakly.
    public var delegate: (any SKRequestDelegate)? {
        get { _delegateBox as? any SKRequestDelegate }
        set { _delegateBox = newValue }
    }
}

/// A request to the store; its subclasses say for what.
/// [Apple's page](https://developer.apple.com/documentation/storekit/skrequest)
///
/// The delegate is called on the main queue, so a process must keep its main
/// queue alive (`RunLoop.main.run()`, `dispatchMain()` or an async `main`).
open class SKRequest: NSObject, _SKRequestDelegating {
    public weak var _delegateBox: AnyObject?

    public override init() {
        super.init()
    }

    /// Asks the store. A request is started once.
    open func start() {}

    /// Ends the request: its delegate is not called any more.
    open func cancel() {}
}

/// Hears how a request ends. Both methods are optional.
public protocol SKRequestDelegate: NSObjectProtocol {
    /// The request succeeded; the last call.
    func requestDidFinish(_ request: SKRequest)
    /// The request failed; the only call. A `URLError` where the network was
    /// at fault, else an ``SKError``.
    func request(_ request: SKRequest, didFailWithError error: any Error)
}

extension SKRequestDelegate {
    public func requestDidFinish(_ request: SKRequest) {}
    public func request(_ request: SKRequest, didFailWithError error: any Error) {}
}
