// SPDX-License-Identifier: Apache-2.0

public import Commerce
public import Foundation

/// The store, app and customer of a device, and the folder for its files.
public struct DeviceConfiguration: Sendable {
    /// The payment sheet to show.
    public enum Sheet: Sendable {
        /// The terminal if there is one, otherwise `confirm`, which is reported
        /// once on standard error.
        case automatic
        case terminal
        /// Confirms every payment.
        case confirm
        /// Cancels every payment.
        case cancel
        /// A payment sheet of the app.
        case custom(any PaymentSheet)
    }

    /// The default address of a store.
    public static let defaultStoreURL = "http://127.0.0.1:4780"

    /// The store's URL. For a realm other than the default one, with
    /// `/realms/NAME` at its end.
    public var storeURL: URL
    /// The app's bundle id. Nil if the realm has only one app.
    public var bundleID: BundleID?
    /// The app's version in the receipt. Nil for `1.0`.
    public var appVersion: String?
    /// The environment for which this device is. A store of another one refuses it, and
    /// the device refuses the store. Nil for whatever is at ``storeURL``.
    public var environment: Environment?
    /// The customer's sign-in name. Nil for a sandbox's default customer.
    public var customer: String?
    public var password: String?
    /// The name of this device for people.
    public var deviceName: String?
    /// The folder for the queue file and the receipt.
    public var folder: URL
    /// The store's root certificate in DER. Nil to use the one that was pinned
    /// before.
    public var root: [UInt8]?
    public var sheet: Sheet
    /// What the `contentURL` of a finished download leads to.
    public var contentForm = ContentForm.folder
    /// How the app is started when the customer chooses a product outside of it. Nil
    /// leaves what was registered before.
    public var launcher: AppLauncher?
    /// Whether payments are forbidden on this device.
    public var isRestricted: Bool
    /// Whether this version of the app is tried by testers before it is sold. It then
    /// never asks for a review.
    public var isBeta = false
    /// What a sheet that answers by itself enters where the customer enters an offer's
    /// code.
    public var code: String?
    /// Whether the root of a store is trusted at first contact. By default only
    /// in debug builds and on loopback. A release build that sets this accepts
    /// purchases from any server that answers at ``storeURL``.
    public var trustsFirstContact: Bool
    /// The problem with the environment. Every call to the store fails with it.
    var fault: String?

    /// Makes a configuration with defaults for all other fields.
    public init(
        storeURL: URL, bundleID: BundleID? = nil, folder: URL? = nil, root: [UInt8]? = nil,
        sheet: Sheet = .automatic
    ) {
        self.storeURL = storeURL
        self.bundleID = bundleID ?? Self.bundleOfProcess
        self.folder = folder ?? Self.defaultFolder(for: self.bundleID)
        self.root = root
        self.sheet = sheet
        appVersion = Self.versionOfProcess
        isRestricted = false
        trustsFirstContact = Self.isDebugBuild && Self.isLoopback(storeURL)
    }

    static var isDebugBuild: Bool {
        #if DEBUG
            true
        #else
            false
        #endif
    }

    static func isLoopback(_ url: URL) -> Bool {
        guard let host = url.host?.lowercased() else { return false }
        return ["localhost", "127.0.0.1", "::1", "[::1]"].contains(host)
    }

    private static var bundleOfProcess: BundleID? {
        Bundle.main.bundleIdentifier.map { BundleID($0) }
    }

    private static var versionOfProcess: String? {
        Bundle.main.infoDictionary?["CFBundleShortVersionString"] as? String
    }
}
