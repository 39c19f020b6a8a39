// SPDX-License-Identifier: Apache-2.0

public import Foundation

// A banner for another app needs a screen and an app store. These names exist so that
// code which mentions them compiles.

/// A banner for an app of the store. There is none: ``present(in:)`` reports to the
/// delegate that it failed, with `unsupportedPlatform`, on the main queue.
/// [Apple's page](https://developer.apple.com/documentation/storekit/skoverlay)
open class SKOverlay: NSObject {
    /// Held weakly.
    weak open var delegate: (any SKOverlayDelegate)?
    /// What the banner would show.
    open private(set) var configuration: SKOverlay.Configuration

    public init(configuration: SKOverlay.Configuration) {
        self.configuration = configuration
        super.init()
    }

    /// Reports that it failed. `scene` is not used.
    open func present<Scene>(in scene: Scene) {
        let refused = OverlayRefusal(self, delegate)
        DispatchQueue.main.async { refused.report() }
    }

    /// There is nothing to dismiss.
    open class func dismiss<Scene>(in scene: Scene) {}

    /// Where the banner would be.
    public enum Position: Int, Sendable {
        case bottom = 0
        case bottomRaised = 1
    }

    /// What a banner shows.
    open class Configuration: NSObject {}

    /// A banner for an app.
    open class AppConfiguration: SKOverlay.Configuration {
        open var appIdentifier: String
        open var position: SKOverlay.Position
        open var userDismissible = true
        open var campaignToken: String?
        open var providerToken: String?
        open var customProductPageIdentifier: String?
        open var latestReleaseID: String?
        private var values: [String: Any] = [:]

        public init(appIdentifier: String, position: SKOverlay.Position) {
            self.appIdentifier = appIdentifier
            self.position = position
            super.init()
        }

        open func setAdditionalValue(_ value: Any?, forKey key: String) { values[key] = value }

        open func additionalValue(forKey key: String) -> Any? { values[key] }
    }

    /// A banner for the app of an app clip.
    open class AppClipConfiguration: SKOverlay.Configuration {
        open var position: SKOverlay.Position
        open var campaignToken: String?
        open var providerToken: String?
        open var customProductPageIdentifier: String?
        open var latestReleaseID: String?
        private var values: [String: Any] = [:]

        public init(position: SKOverlay.Position) {
            self.position = position
            super.init()
        }

        open func setAdditionalValue(_ value: Any?, forKey key: String) { values[key] = value }

        open func additionalValue(forKey key: String) -> Any? { values[key] }
    }

    /// The animations beside a banner's own. Never made here.
    open class TransitionContext: NSObject {
        /// Where it begins.
        open var startFrame: CGRect { .zero }
        /// Where it ends.
        open var endFrame: CGRect { .zero }

        /// Does nothing: there is no animation.
        open func addAnimation(_ block: @escaping () -> Void) {}
    }
}

/// Is notified of a banner's fate. Each method is optional.
public protocol SKOverlayDelegate: NSObjectProtocol {
    func storeOverlayDidFailToLoad(_ overlay: SKOverlay, error: any Error)
    func storeOverlayWillStartPresentation(
        _ overlay: SKOverlay, transitionContext: SKOverlay.TransitionContext)
    func storeOverlayDidFinishPresentation(
        _ overlay: SKOverlay, transitionContext: SKOverlay.TransitionContext)
    func storeOverlayWillStartDismissal(
        _ overlay: SKOverlay, transitionContext: SKOverlay.TransitionContext)
    func storeOverlayDidFinishDismissal(
        _ overlay: SKOverlay, transitionContext: SKOverlay.TransitionContext)
}

extension SKOverlayDelegate {
    public func storeOverlayDidFailToLoad(_ overlay: SKOverlay, error: any Error) {}
    public func storeOverlayWillStartPresentation(
        _ overlay: SKOverlay, transitionContext: SKOverlay.TransitionContext
    ) {}
    public func storeOverlayDidFinishPresentation(
        _ overlay: SKOverlay, transitionContext: SKOverlay.TransitionContext
    ) {}
    public func storeOverlayWillStartDismissal(
        _ overlay: SKOverlay, transitionContext: SKOverlay.TransitionContext
    ) {}
    public func storeOverlayDidFinishDismissal(
        _ overlay: SKOverlay, transitionContext: SKOverlay.TransitionContext
    ) {}
}

/// A banner and its delegate on their way to the main queue. Neither is used anywhere
/// else in between.
private struct OverlayRefusal: @unchecked Sendable {
    private let overlay: SKOverlay
    private weak var delegate: (any SKOverlayDelegate)?

    init(_ overlay: SKOverlay, _ delegate: (any SKOverlayDelegate)?) {
        (self.overlay, self.delegate) = (overlay, delegate)
    }

    func report() {
        delegate?.storeOverlayDidFailToLoad(
            overlay,
            error: SKError(
                .unsupportedPlatform,
                userInfo: [NSLocalizedDescriptionKey: "This platform shows no banners."]))
    }
}
