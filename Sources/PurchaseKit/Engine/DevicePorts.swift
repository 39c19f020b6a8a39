// SPDX-License-Identifier: Apache-2.0

public import Commerce
import Foundation
import Live

/// Everything that a device uses outside itself.
public struct DevicePorts: Sendable {
    public var transport: any StoreTransport
    public var files: any DeviceFiles
    public var sheet: any PaymentSheet
    /// The machine's time, for sessions and for signatures of production
    /// stores.
    public var wall: WallClock
    public var randomness: Randomness
    /// Sleeps. Throws when the task is cancelled.
    public var sleep: @Sendable (Duration) async throws -> Void
    /// Calls back into the app, in order.
    public var callbacks: @Sendable (@escaping @Sendable () -> Void) -> Void
    /// Logs a line for the developer.
    public var log: @Sendable (String) -> Void

    public init(
        transport: any StoreTransport, files: any DeviceFiles, sheet: any PaymentSheet,
        wall: WallClock, randomness: Randomness,
        sleep: @escaping @Sendable (Duration) async throws -> Void,
        callbacks: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void,
        log: @escaping @Sendable (String) -> Void
    ) {
        self.transport = transport
        self.files = files
        self.sheet = sheet
        self.wall = wall
        self.randomness = randomness
        self.sleep = sleep
        self.callbacks = callbacks
        self.log = log
    }

    /// The real ports: HTTP, a folder, the terminal and the main queue.
    public static func live(_ configuration: DeviceConfiguration) -> DevicePorts {
        DevicePorts(
            transport: HTTPTransport(storeURL: configuration.storeURL),
            files: FolderDeviceFiles(folder: configuration.queueFolder),
            sheet: configuration.paymentSheet, wall: Live.wallClock,
            randomness: Live.randomness, sleep: { try await Live.sleep($0) },
            callbacks: { body in DispatchQueue.main.async(execute: body) },
            log: { StandardError.say($0) })
    }
}
