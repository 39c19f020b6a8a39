// SPDX-License-Identifier: Apache-2.0

public import Commerce
public import Foundation

/// Which store a device speaks to, for which app, as whom, and where it
/// keeps its files.
public struct DeviceConfiguration: Sendable {
    /// The payment sheet that is shown.
    public enum Sheet: Sendable {
        /// The terminal's where there is one, else `confirm`, said once on
        /// standard error.
        case automatic
        case terminal
        /// Every payment is confirmed.
        case confirm
        /// Every payment is cancelled.
        case cancel
        /// The app's own.
        case custom(any PaymentSheet)
    }

    /// Where a store listens unless it is told otherwise.
    public static let defaultStoreURL = "http://127.0.0.1:4780"

    /// The store's, with `/realms/NAME` behind it for a realm of that name.
    public var storeURL: URL
    /// The app; nil for the realm's only one.
    public var bundleID: BundleID?
    /// The app's version, as the receipt tells it; nil for `1.0`.
    public var appVersion: String?
    /// Who buys; nil for a sandbox's default customer.
    public var customer: String?
    public var password: String?
    /// What people call this device.
    public var deviceName: String?
    /// The device folder: queue and receipt.
    public var folder: URL
    /// The store's root certificate in DER; nil to use the one pinned before.
    public var root: [UInt8]?
    public var sheet: Sheet
    /// Whether payments are forbidden on this device.
    public var isRestricted: Bool
    /// Whether a store met for the first time may be believed: in debug
    /// builds, on loopback, unless set. A release build that sets it accepts
    /// purchases from whoever answers at ``storeURL``.
    public var trustsFirstContact: Bool
    /// What was wrong with the environment: all that needs the store fails with it.
    var fault: String?

    /// The defaults of every field but the ones given.
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
