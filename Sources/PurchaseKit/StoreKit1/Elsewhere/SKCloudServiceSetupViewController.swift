// SPDX-License-Identifier: Apache-2.0

public import Foundation

// The offer of a music service needs a screen. These names exist so that code which
// mentions them compiles. They are no view controllers.

/// What the offer of a music service is made with.
public struct SKCloudServiceSetupOptionsKey: RawRepresentable, Hashable, Sendable {
    public let rawValue: String

    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    public static let action = SKCloudServiceSetupOptionsKey(rawValue: "action")
    public static let messageIdentifier = SKCloudServiceSetupOptionsKey(
        rawValue: "messageIdentifier")
    public static let iTunesItemIdentifier = SKCloudServiceSetupOptionsKey(
        rawValue: "iTunesItemIdentifier")
    public static let affiliateToken = SKCloudServiceSetupOptionsKey(rawValue: "affiliateToken")
    public static let campaignToken = SKCloudServiceSetupOptionsKey(rawValue: "campaignToken")
}

/// What the customer is offered.
public struct SKCloudServiceSetupAction: RawRepresentable, Hashable, Sendable {
    public let rawValue: String

    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    public static let subscribe = SKCloudServiceSetupAction(rawValue: "subscribe")
}

/// What the offer says.
public struct SKCloudServiceSetupMessageIdentifier: RawRepresentable, Hashable, Sendable {
    public let rawValue: String

    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    public static let join = SKCloudServiceSetupMessageIdentifier(rawValue: "join")
    public static let connect = SKCloudServiceSetupMessageIdentifier(rawValue: "connect")
    public static let addMusic = SKCloudServiceSetupMessageIdentifier(rawValue: "addMusic")
    public static let playMusic = SKCloudServiceSetupMessageIdentifier(rawValue: "playMusic")
}

/// The offer of a music service. There is none: ``load(options:completionHandler:)`` fails
/// with `unsupportedPlatform`, on the main queue.
/// [Apple's page](https://developer.apple.com/documentation/storekit/skcloudservicesetupviewcontroller)
open class SKCloudServiceSetupViewController: NSObject, @unchecked Sendable {
    /// Held weakly. Not called.
    weak open var delegate: (any SKCloudServiceSetupViewControllerDelegate)?

    public override init() {
        super.init()
    }

    open func load(
        options: [SKCloudServiceSetupOptionsKey: Any],
        completionHandler: ((Bool, (any Error)?) -> Void)? = nil
    ) {
        Later.call(completionHandler) {
            $0(
                false,
                SKError(
                    .unsupportedPlatform,
                    userInfo: [
                        NSLocalizedDescriptionKey: "This platform offers no music service."
                    ]))
        }
    }
}

/// Is notified when the offer of a music service is closed.
public protocol SKCloudServiceSetupViewControllerDelegate: NSObjectProtocol {
    /// Optional.
    func cloudServiceSetupViewControllerDidDismiss(
        _ cloudServiceSetupViewController: SKCloudServiceSetupViewController)
}

extension SKCloudServiceSetupViewControllerDelegate {
    public func cloudServiceSetupViewControllerDidDismiss(
        _ cloudServiceSetupViewController: SKCloudServiceSetupViewController
    ) {}
}
