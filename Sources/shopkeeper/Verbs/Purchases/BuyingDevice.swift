// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import Live
import PurchaseKit

/// The device with which the command buys.
enum BuyingDevice {
    /// The app that buys: the one that the environment names, as for every device, or else
    /// the one that is served.
    static func bundleID(
        _ store: RunningStore, _ environment: [String: String] = Live.environment
    ) -> String {
        let named = environment["SHOPKEEPER_BUNDLE_ID"] ?? ""
        return named.isEmpty ? store.run.bundleId : named
    }

    /// `bundleID`: nil for the app that is served. `customer`: nil for the sandbox's own.
    /// `sheet`: what answers instead of the customer.
    static func make(
        _ store: RunningStore, bundleID: String? = nil, customer: String?, folder: String,
        sheet: any PaymentSheet = AutomaticSheet(.confirm)
    ) throws -> (Device, WatchedFiles) {
        guard let url = URL(string: store.url) else {
            throw Failure(.bug, "bug", "The run file's URL is invalid: \(store.url)")
        }
        var configuration = DeviceConfiguration(
            storeURL: url, bundleID: BundleID(bundleID ?? store.run.bundleId),
            folder: URL(fileURLWithPath: folder), sheet: .confirm)
        configuration.customer = customer
        configuration.password = Live.environment["SHOPKEEPER_PASSWORD"]
        configuration.deviceName = "shopkeeper"
        configuration.trustsFirstContact = true
        var ports = DevicePorts.live(configuration)
        let files = WatchedFiles(ports.files)
        ports.files = files
        ports.sheet = sheet
        return (Device(configuration: configuration, ports: ports), files)
    }

    /// Waits for the device only for a moment, because it may wait for its disk.
    static func close(_ device: Device) async {
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        let closing = Task {
            await device.close()
            end.finish()
        }
        let late = Task {
            try await Live.sleep(.seconds(2))
            end.finish()
        }
        for await _ in ends {}
        closing.cancel()
        late.cancel()
    }
}
